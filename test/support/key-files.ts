/** Key files for tests of encryption. */
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { encryptionWith, type Encryption } from '../../src/encryption/encryption.ts';
import { createKeyRing } from '../../src/encryption/key-ring.ts';
import { tempFolder } from './temporal.ts';

/** @returns the path of a file with one new key */
export async function newKeyFile(id = 'test'): Promise<string> {
  const path = join(await tempFolder(), 'keys.json');
  const keys = { [id]: randomBytes(32).toString('base64') };
  await writeFile(path, JSON.stringify({ current: id, keys }), { mode: 0o600 });
  return path;
}

export function encryptionOf(path: string, acceptsPlain = false): Encryption {
  const warn = (message: string) => {
    throw new Error(message);
  };
  return encryptionWith(createKeyRing({ path, warn }), acceptsPlain);
}
