import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rollFleet } from '../../support/fleet.ts';
import { newPlace } from '../../support/shared-temporal.ts';

test('a rollout ends with the outcomes of the service, within its limit and with one deployment per site, although its worker is killed twice', async (t) => {
  const { result, wallMs, bestMs, atOnce, history } = await rollFleet(
    {
      servers: 8,
      sites: 24,
      atOnce: 4,
      oneFailsOf: 20,
      backupMs: 1_000,
      deploymentMs: 1_000,
      intervalMs: 300,
      kills: 2,
    },
    await newPlace(),
  );
  assert.equal(result.outcome, 'failed');
  assert.ok(atOnce <= 4, `${atOnce} servers at once`);
  t.diagnostic(`wall time ${(wallMs / bestMs).toFixed(2)} times the best possible, ${history.events} events`);
});
