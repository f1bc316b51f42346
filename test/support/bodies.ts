/** Bodies of webhooks, both as senders write them and as no sender would. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parseBody, type JsonObject } from '../../src/webhooks/parse-body.ts';

/** The receiver's own limit. */
export const MAX_BODY_BYTES = 256 * 1024;

/** Parses a body like one from outside. */
export function bodyOf(text: string): JsonObject {
  const body = parseBody(Buffer.from(text));
  assert.ok(body !== null, text.slice(0, 100));
  return body;
}

const NAMES = [
  ...['type', 'event', 'name', 'server', 'server_id', 'serverId', 'site', 'site_id', 'backup', 'backup_id'],
  ...[
    'id',
    'uuid',
    'data',
    'object',
    'attributes',
    'payload',
    'time',
    'date',
    'created_at',
    'token',
    'constructor',
    'x',
  ],
];
const leaf = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.constantFrom('backup.failed', '..', '.', '', ' ', '\ud800', 'x'.repeat(300), '__proto__'),
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
);
/** Bodies that name resources as senders do, and arbitrary ones. */
const anyBody = fc.oneof(
  fc.object({ key: fc.constantFrom(...NAMES), maxDepth: 4, maxKeys: 6, values: [leaf] }),
  fc.dictionary(
    fc.string().filter((key) => key !== '__proto__'),
    fc.jsonValue(),
  ),
);
export const anyText = anyBody
  .map((body) => JSON.stringify(body))
  .filter((text) => !/__proto__"\s*:|"prototype"/.test(text));
