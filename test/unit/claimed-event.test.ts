/** What of a delivery becomes the event: whether its sender is verified, what it may cause, and its id. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import type { Configuration } from '../../src/config/file/file-schema.ts';
import { standInReceiver } from '../support/stand-in-receiver.ts';
import { tempFolder } from '../support/temporal.ts';

const SECRET = `whsec_${Buffer.alloc(32, 'key').toString('base64')}`;
const BODY = JSON.stringify({ type: 'backup.failed', server_id: 12, backup_id: 'b7', delivery: 'in-body' });

async function deliver(source: NonNullable<NonNullable<Configuration['events']>['sources']>[string], headers = {}) {
  const { app, stored } = await standInReceiver({ events: { sources: { panel: source } } });
  const all = { 'content-type': 'application/json', host: '127.0.0.1:4181', ...headers };
  const answer = await app.inject({ method: 'POST', url: '/webhooks/panel', headers: all, payload: BODY });
  assert.equal(answer.statusCode, 202, answer.body);
  return stored[0]!.event;
}

test('a slash at the end of the address changes nothing', async () => {
  const { app } = await standInReceiver({ events: { sources: { panel: { verify: 'none' } } } });
  const headers = { 'content-type': 'application/json', host: '127.0.0.1:4181' };
  const answer = await app.inject({ method: 'POST', url: '/webhooks/panel/', headers, payload: BODY });
  assert.equal(answer.statusCode, 202, answer.body);
});

test('the event of an unverified sender is marked so, and only wakes and notifies', async () => {
  const { verified, reactions } = await deliver({ verify: 'none' });
  assert.deepEqual([verified, reactions], [false, ['notify']]);
});

test('the event of a sender with the secret of its source is verified, and ends the wait for its backup', async () => {
  const file = join(await tempFolder(), 'secret');
  writeFileSync(file, SECRET);
  const [id, at] = ['msg_1', new Date()];
  const { verified, reactions } = await deliver(
    { verify: 'standard-webhooks', secrets: [{ file }] },
    {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': new Webhook(SECRET).sign(id, at, BODY),
    },
  );
  assert.deepEqual([verified, [...reactions].sort()], [true, ['end-wait', 'notify']]);
});

test('an id that fields.id names in the body goes before one in a header', async () => {
  const source = { verify: 'none' as const, idHeader: 'x-delivery', fields: { id: 'delivery' } };
  assert.equal((await deliver(source, { 'x-delivery': 'in-header' })).deliveryId, 'in-body');
});
