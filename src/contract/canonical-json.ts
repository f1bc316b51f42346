/** Makes the same hash for the same content, whatever the order of its keys. Other programs can make it, too. Pure. */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { isRecord } from './plain-object.ts';

/** Returns the SHA-256 of the canonical form. @returns 64 hexadecimal digits */
export const hashOf = (content: unknown): string => bytesToHex(sha256(utf8ToBytes(canonicalJson(content))));

/**
 * Returns the canonical form of RFC 8785. It is written key by key, because a JavaScript object orders keys such as `9`
 * and `10` as numbers, whatever the order in which they were added.
 */
export const canonicalJson = (content: unknown): string => formOf(JSON.parse(JSON.stringify(content)));

function formOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(formOf).join(',')}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  // Sorts by UTF-16 code units, as the RFC demands.
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${formOf(value[key])}`).join(',')}}`;
}
