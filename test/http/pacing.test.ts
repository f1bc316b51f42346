import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHostingApiClient } from '../../src/hosting-api/client.ts';
import { createPacer } from '../../src/hosting-api/pacer.ts';
import { HTTP_TIMEOUTS } from '../../src/worker/probe-service.ts';
import { errorOf, http, rawService, site, TOKEN } from '../support/raw-service.ts';

const LIMITS = { defaultPauseMs: 60_000, maxPauseMs: 600_000, spreadMs: 0 };
const PERMIT = { leftMs: () => 2_000 };

/** A paced client of a service that answers everything with this. */
async function paced(answer: string) {
  const { baseUrl, sent } = await rawService(answer);
  const pacer = createPacer(LIMITS);
  const client = createHostingApiClient({ ...HTTP_TIMEOUTS, baseUrl, pacer, token: () => Promise.resolve(TOKEN) });
  return { client, pacer, requests: () => sent().match(/HTTP\/1\.1/g)?.length ?? 0 };
}

for (const [what, answer] of [
  ['429', http('429 Too Many Requests', '{}')],
  ['429 with Retry-After', http('429 Too Many Requests', '{}', 'Retry-After: 60\r\n')],
  ['503 with Retry-After', http('503 Service Unavailable', '{}', 'Retry-After: 60\r\n')],
] as const) {
  test(`after ${what}, nothing is sent until the pause is over`, async () => {
    const { client, requests } = await paced(answer);
    await errorOf(client.readBackup('b1'));
    const refused = [
      await errorOf(client.readLatestDeployment(site('a1'))),
      await errorOf(client.createBackup('s1', { permit: PERMIT })),
      await errorOf(client.triggerDeployment(site('a1'), { permit: PERMIT })),
    ];
    for (const { kind, sent, retryAfterMs } of refused) {
      assert.deepEqual([kind, sent], ['held_back', false]);
      assert.ok(retryAfterMs !== null && retryAfterMs > 0 && retryAfterMs <= 60_000);
    }
    assert.equal(requests(), 1);
  });
}

for (const [what, answer] of [
  ['503 without Retry-After', http('503 Service Unavailable', '{}')],
  ['500', http('500 Oops', '{}', 'Retry-After: 60\r\n')],
  ['a status', http('200 OK', '{"status":"completed"}')],
] as const) {
  test(`after ${what}, there is no pause`, async () => {
    const { client, pacer, requests } = await paced(answer);
    await client.readBackup('b1').catch(() => undefined);
    assert.equal(requests(), 1);
    assert.equal(pacer.isPaused, false);
  });
}

test('a trigger waits for its turn only as long as its permit allows', async () => {
  const { client, pacer, requests } = await paced(http('200 OK', '{"id":"b1"}'));
  // Longer than the permit, and than a read waits.
  pacer.pause(60_000);
  assert.equal((await errorOf(client.createBackup('s1', { permit: PERMIT }))).kind, 'held_back');
  assert.equal((await errorOf(client.createBackup('s1'))).kind, 'held_back');
  assert.equal(requests(), 0);
  const other = await paced(http('200 OK', '{"id":"b1"}'));
  other.pacer.pause(500);
  const patient = { leftMs: () => 60_000 };
  assert.deepEqual(await other.client.createBackup('s1', { permit: patient }), { backupId: 'b1' });
  assert.equal(other.pacer.isPaused, false, 'sent during the pause');
});

test('a read that is no longer wanted while it waits for its turn is not made', async () => {
  const { client, pacer, requests } = await paced(http('200 OK', '{"status":"completed"}'));
  pacer.pause(10_000);
  const abort = new AbortController();
  const reading = errorOf(client.readBackup('b1', { signal: abort.signal }));
  abort.abort();
  assert.equal((await reading).kind, 'held_back');
  assert.equal(requests(), 0);
});
