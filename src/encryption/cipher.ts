/** AES-256-GCM. The encrypted form is a random IV of 12 bytes, the data, and a tag of 16 bytes. */
import { createCipheriv, createDecipheriv, randomBytes, type KeyObject } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** @param label stays readable beside the encrypted form, and cannot be changed without the key */
export function encrypt(key: KeyObject, plain: Uint8Array, label: string): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, iv, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(label));
  return Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** Null if another key or label encrypted it, or if a byte was changed. */
export function decrypt(key: KeyObject, encrypted: Uint8Array, label: string): Buffer | null {
  if (encrypted.length < IV_BYTES + TAG_BYTES) return null;
  const tagAt = encrypted.length - TAG_BYTES;
  const decipher = createDecipheriv(ALGORITHM, key, encrypted.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(label));
  decipher.setAuthTag(encrypted.subarray(tagAt));
  const plain = decipher.update(encrypted.subarray(IV_BYTES, tagAt));
  try {
    return Buffer.concat([plain, decipher.final()]);
  } catch {
    return null;
  }
}
