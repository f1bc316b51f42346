/** The service is gone for five minutes. Runs with an outage budget park and go on; others end unknown, never wrong. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../support/eventually.ts';
import { resultOf } from '../support/outcome.ts';
import { completedOnce, finish, inFlight, openStage } from './stage.ts';

const GONE_FOR_MS = 5 * 60_000;
const BUDGET = { outageBudgetMs: 3_600_000 };

export async function serviceGone(): Promise<string> {
  const stage = await openStage();
  const [parking, others] = [await stage.deploy(5, BUDGET), await stage.deploy(5)];
  await inFlight(stage, [...parking, ...others]);
  stage.relay.cut();
  const backMs = Date.now() + GONE_FOR_MS;
  for (const { run } of others) {
    const { outcome, error } = await resultOf(run);
    assert.deepEqual([outcome, error?.type], ['unknown', 'OutcomeUnknown']);
  }
  await eventually('the parked runs', async () => {
    const phases = await Promise.all(parking.map(async ({ run }) => (await run.status()).waiting));
    return phases.every((waiting) => waiting !== null && 'parked' in waiting);
  });
  const failed = (await stage.metric('belay_polls_total', 'result="network"')) ?? 0;
  assert.ok(failed > 0, 'no failed read is counted');
  await sleep(Math.max(0, backMs - Date.now()));
  await stage.relay.open();
  finish(stage, parking);
  await completedOnce(stage, parking);
  return `${parking.length} runs were parked for five minutes, ${others.length} without a budget ended unknown`;
}
