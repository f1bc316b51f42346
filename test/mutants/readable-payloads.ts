/** What encryption has to keep unreadable, and readable. */
import { change, integration, unit, type TestedMutant } from './mutant.ts';

export const READABLE_PAYLOADS: TestedMutant[] = [
  {
    rule: 'with encryption, workflow code leaves the messages of failures as plain text',
    changes: [change('worker/start.ts', 'encodesFailures: encryption.isOn', 'encodesFailures: false')],
    test: integration('temporal/encrypted-runs', 'leaves nothing of its content in the database of Temporal'),
  },
  {
    rule: 'with encryption, a history is read as if it were plain text',
    changes: [
      change(
        'client/decode-payloads.ts',
        'decodeOptionalSinglePayload<T>(client.options.loadedDataConverter,',
        'decodeOptionalSinglePayload<T>({ ...client.options.loadedDataConverter, payloadCodecs: [] },',
      ),
    ],
    test: integration('temporal/other-readers', 'an event is stored, handled and shown'),
  },
  {
    rule: 'with encryption, a plain payload is accepted without a switch',
    changes: [change('encryption/payload-codec.ts', 'if (acceptsPlain) return', 'if (acceptsPlain || true) return')],
    test: unit('encryption', 'rejects a plain payload unless plain payloads are accepted'),
  },
  {
    rule: 'a payload with a changed byte is decrypted',
    changes: [
      change('encryption/payload-codec.ts', 'return Buffer.concat([plain, decipher.final()]);', 'return plain;'),
    ],
    test: unit('encryption', 'rejects a payload of which any byte was changed'),
  },
  {
    rule: 'a mistake in a changed key file ends the encryption',
    changes: [change('encryption/key-ring.ts', 'if (!(error instanceof ConfigError)) throw error;', 'throw error;')],
    test: unit('encryption', 'with a mistake after a change keeps the last good keys in force'),
  },
];
