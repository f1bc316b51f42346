/** What the SDK does about a payload whose key this process lacks: it asks the codec, which throws or leaves it out. */
import { plainCodec } from '../../src/encryption/payload-codec.ts';

const payload = {
  metadata: { encoding: Buffer.from('binary/encrypted'), 'encryption-key-id': Buffer.from('lost') },
  data: new Uint8Array(),
};

export const LOST_PAYLOADS = { payloads: [payload] };

export const WHY_LOST = 'a payload is encrypted with the key "lost": set BELAY_CODEC_KEYS_FILE to a file with that key';

/** @returns undefined for whoever asks leniently. @throws PayloadError for the others */
export async function lost(): Promise<undefined> {
  await plainCodec.decode([payload]);
  return undefined;
}
