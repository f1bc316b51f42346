/** What becomes of each payload between the SDK and Temporal. */
import type { Payload, PayloadCodec } from '@temporalio/common';
import proto from '@temporalio/proto';
import { plainText } from '../contract/safe-text.ts';
import { decrypt, encrypt } from './cipher.ts';
import type { KeyRing } from './key-ring.ts';
import { PayloadError } from './payload-error.ts';

const { Payload: PayloadMessage } = proto.temporal.api.common.v1;

const ENCRYPTED = 'binary/encrypted';
const KEY_ID = 'encryption-key-id';

/** @param acceptsPlain whether a payload that is not encrypted is read, and not refused */
export const createEncryptingCodec = (keys: KeyRing, acceptsPlain: boolean): PayloadCodec => ({
  encode: async (payloads) => payloads.map((it) => encryptPayload(keys, it)),
  decode: async (payloads) =>
    payloads.map((payload) => {
      if (isEncrypted(payload)) return decryptPayload(keys, payload);
      if (acceptsPlain) return payload;
      const remedy = 'set BELAY_CODEC_ACCEPT_PLAIN=1 as long as Temporal keeps workflows from before encryption';
      throw new PayloadError(`a payload is not encrypted: ${remedy}`);
    }),
});

/** Without keys. Otherwise the SDK's own error would name neither the cause nor the remedy. */
export const plainCodec: PayloadCodec = {
  encode: async (payloads) => payloads,
  decode: async (payloads) => {
    const encrypted = payloads.find(isEncrypted);
    if (encrypted === undefined) return payloads;
    const remedy = 'set BELAY_CODEC_KEYS_FILE to a file with that key';
    throw new PayloadError(`a payload is encrypted with the key "${keyIdOf(encrypted)}": ${remedy}`);
  },
};

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

/** Not the workflow: docs/explanation/decisions/0085-an-encrypted-payload-is-not-bound-to-its-workflow.md */
const labelOf = (keyId: string): string => `${ENCRYPTED} ${keyId}`;

const isEncrypted = (payload: Payload): boolean => metadataOf(payload, 'encoding') === ENCRYPTED;

const keyIdOf = (payload: Payload): string => plainText(metadataOf(payload, KEY_ID), 64);

const metadataOf = ({ metadata }: Payload, name: string): string => Buffer.from(metadata?.[name] ?? []).toString();
