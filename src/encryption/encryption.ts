/** Decides whether this process encrypts what it gives to Temporal, and makes what workers and clients need for it. */
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';
import { acceptsPlainPayloads } from '../config/environment/environment.ts';
import { given } from '../config/environment/variables.ts';
import { createEncryptingCodec, plainCodec } from './payload-codec.ts';
import { createKeyRing, type KeyRing } from './key-ring.ts';

export interface Encryption {
  isOn: boolean;
  dataConverter: DataConverter;
}

export const NO_ENCRYPTION: Encryption = { isOn: false, dataConverter: { payloadCodecs: [plainCodec] } };

/** The file has the same extension as this module, compiled or not. */
const FAILURE_CONVERTER = fileURLToPath(new URL(`failure-converter${extname(import.meta.url)}`, import.meta.url));

/** Reads the environment. @throws ConfigError */
export function readEncryption(warn: (message: string) => void): Encryption {
  const path = given('BELAY_CODEC_KEYS_FILE');
  return path === null ? NO_ENCRYPTION : encryptionWith(createKeyRing({ path, warn }), acceptsPlainPayloads());
}

export const encryptionWith = (keys: KeyRing, acceptsPlain: boolean): Encryption => ({
  isOn: true,
  dataConverter: {
    payloadCodecs: [createEncryptingCodec(keys, acceptsPlain)],
    failureConverterPath: FAILURE_CONVERTER,
  },
});
