/** The same hash for the same content, whatever the order of its keys. Pure. */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { isRecord } from '../plain-object.ts';

/** @returns 64 hexadecimal digits */
export function hashOf(content: unknown): string {
  const sorted = (_key: string, value: unknown) =>
    isRecord(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value;
  return bytesToHex(sha256(utf8ToBytes(JSON.stringify(content, sorted))));
}
