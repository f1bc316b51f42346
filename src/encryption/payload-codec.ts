/** Encrypts and decrypts payloads between the SDK and Temporal. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createCipheriv, createDecipheriv, randomBytes, type KeyObject } from 'node:crypto';
import type { Payload, PayloadCodec } from '@temporalio/common';
import proto from '@temporalio/proto';
import { plainText } from '../contract/safe-text.ts';
import type { KeyRing } from './key-ring.ts';

const { Payload: PayloadMessage } = proto.temporal.api.common.v1;

const ENCRYPTED = 'binary/encrypted';
const KEY_ID = 'encryption-key-id';

/** @param acceptsPlain whether to read a payload that is not encrypted instead of refusing it */
export const createEncryptingCodec = (keys: KeyRing, acceptsPlain: boolean): PayloadCodec => ({
  encode: async (payloads) => payloads.map((it) => encryptPayload(keys, it)),
  decode: async (payloads) =>
    payloads.map((payload) =>
      orAbsent(() => {
        if (isEncrypted(payload)) return decryptPayload(keys, payload);
        if (acceptsPlain) return payload;
        const remedy = 'set BELAY_CODEC_ACCEPT_PLAIN=1 as long as Temporal keeps workflows from before encryption';
        throw new PayloadError(`a payload is not encrypted: ${remedy}`);
      }),
    ),
});

/** For a process without keys. The SDK's own error would name neither the cause nor the remedy. */
export const plainCodec: PayloadCodec = {
  encode: async (payloads) => payloads,
  decode: async (payloads) => {
    if (!payloads.some(isEncrypted)) return payloads;
    return payloads.map((payload) =>
      orAbsent(() => {
        if (!isEncrypted(payload)) return payload;
        const remedy = 'set BELAY_CODEC_KEYS_FILE to a file with that key';
        throw new PayloadError(`a payload is encrypted with the key "${keyIdOf(payload)}": ${remedy}`);
      }),
    );
  },
};

/* A reader of many workflows continues where a payload cannot be decoded. */

const lenient = new AsyncLocalStorage<{ unreadable: string | null }>();

/** The SDK reads this as undefined. */
const ABSENT: Payload = { metadata: { encoding: Buffer.from('binary/null') }, data: new Uint8Array() };

/** @returns the answer, with undefined for what this process cannot decode, and the reason; null if it decoded all */
export async function leniently<T>(ask: () => Promise<T>): Promise<{ answer: T; unreadable: string | null }> {
  const scope: { unreadable: string | null } = { unreadable: null };
  const answer = await lenient.run(scope, ask);
  return { answer, ...scope };
}

/** @throws PayloadError unless `leniently` asks */
function orAbsent(decode: () => Payload): Payload {
  try {
    return decode();
  } catch (error) {
    const scope = lenient.getStore();
    if (scope === undefined || !(error instanceof PayloadError)) throw error;
    scope.unreadable ??= error.message;
    return ABSENT;
  }
}

function encryptPayload(keys: KeyRing, payload: Payload): Payload {
  const { id, key } = keys.current();
  return {
    metadata: { encoding: Buffer.from(ENCRYPTED), [KEY_ID]: Buffer.from(id) },
    data: encrypt(key, PayloadMessage.encode(payload).finish(), labelOf(id)),
  };
}

function decryptPayload(keys: KeyRing, payload: Payload): Payload {
  const id = keyIdOf(payload);
  const key = keys.find(id);
  if (key === undefined) {
    throw new PayloadError(`a payload is encrypted with the key "${id}": add that key to ${keys.path}`);
  }
  const plain = decrypt(key, payload.data ?? new Uint8Array(), labelOf(id));
  if (plain !== null) return PayloadMessage.decode(plain);
  const cause = `its bytes were changed, or ${keys.path} has other bytes for that key`;
  throw new PayloadError(`a payload of the key "${id}" does not decrypt: ${cause}: restore them`);
}

/**
 * The label does not name the workflow:
 * docs/explanation/decisions/0085-an-encrypted-payload-is-not-bound-to-its-workflow.md
 */
const labelOf = (keyId: string): string => `${ENCRYPTED} ${keyId}`;

const isEncrypted = (payload: Payload): boolean => metadataOf(payload, 'encoding') === ENCRYPTED;

const keyIdOf = (payload: Payload): string => plainText(metadataOf(payload, KEY_ID), 64);

const metadataOf = ({ metadata }: Payload, name: string): string => Buffer.from(metadata?.[name] ?? []).toString();

/* AES-256-GCM. The encrypted form is a random IV of 12 bytes, the data, and a tag of 16 bytes. */

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** @param label stays readable beside the encrypted form, and cannot be changed without the key */
function encrypt(key: KeyObject, plain: Uint8Array, label: string): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, iv, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(label));
  return Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** Null if another key or label encrypted it, or if a byte was changed. */
function decrypt(key: KeyObject, encrypted: Uint8Array, label: string): Buffer | null {
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

/** A payload that this process cannot or must not read. The message names the key and the remedy, never the content. */
export class PayloadError extends Error {
  override readonly name = 'PayloadError';
}
