import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { DeployOptions, RunResult } from '../../../src/contract/run.ts';
import type { Fault } from '../../../src/sandbox/hosting/faults.ts';
import type { ScriptPart } from '../../../src/sandbox/hosting/script.ts';
import { eventually } from '../../support/eventually.ts';
import { began, posts, reads } from '../../support/journal.ts';
import { resultOf, SAID } from '../../support/outcome.ts';
import { replayAll } from '../../support/replay.ts';
import { COMPLETED, FAILED, siteAfter } from '../../support/sites.ts';
import { allHistories, assertNowhere } from '../../support/token.ts';
import { startWorld, TOKEN, workerLog, type World } from '../../support/world.ts';

const PACE = { intervalMs: 500, tries: 60 };
/** Is seen in progress: it ends when the test lets it. */
const BUILDING: ScriptPart = { ends: 'never', words: ['building'] };

let world: World;
before(async () => {
  world = await startWorld();
});

const latest = (siteId: string) => `/v1/sites/${siteId}/deployments/latest`;

async function deploy(siteId: string, more: DeployOptions = {}): Promise<RunResult> {
  return resultOf(await world.belay.start({ siteIds: [siteId], deploy: { ...PACE, ...more } }));
}

/** The verdict in one line. */
const verdict = ({ deployments, error }: RunResult): string =>
  [deployments[0]?.outcome, deployments[0]?.evidence ?? error?.type].join(' by ');

/** As `latest` says it up to the third read of the wait; the two before the trigger say the same. */
const lagging = (siteId: string, status: string): Fault => ({
  route: 'latest',
  target: siteId,
  times: 2 + 3,
  answer: { kind: 'body', code: 200, type: 'application/json', text: JSON.stringify({ status }) },
});

const DIRECTIONS = [
  ['completed', 'failed'],
  ['failed', 'completed'],
] as const;
const SLOW = { lagMs: 3 * PACE.intervalMs + 100 };
const ended = (ends: string): ScriptPart => ({ durationMs: 0, ends });

// Each test has sites of its own, and most of them wait: they run at once.
describe('whose deployment it is', { concurrency: 24 }, () => {
  for (const [old, now] of DIRECTIONS) {
    test(`old ${old}, ours ${now}: the change is seen`, async () => {
      assert.equal(verdict(await deploy(siteAfter(world.sandbox, ended(old), ended(now)))), `${now} by changed`);
    });

    test(`old ${old}, ours ${now}, latest lagging by three reads at the interval: the change is waited for`, async () => {
      const siteId = siteAfter(world.sandbox, ended(old), ended(now));
      world.sandbox.fault(lagging(siteId, old));
      assert.equal(verdict(await deploy(siteId)), `${now} by changed`);
    });

    test(`old ${old}, ours ${now}, latest lagging for a time at the service: the change is waited for`, async () => {
      const siteId = siteAfter(world.sandbox, ended(old), { ...ended(now), ...SLOW });
      assert.equal(verdict(await deploy(siteId)), `${now} by changed`);
    });

    test(`never deployed before, ours ${now}: the first deployment is ours`, async () => {
      assert.equal(verdict(await deploy(siteAfter(world.sandbox, null, ended(now)))), `${now} by changed`);
    });

    test(`never deployed before, ours ${now}, latest lagging for a time: it is waited for`, async () => {
      const siteId = siteAfter(world.sandbox, null, { ...ended(now), ...SLOW });
      assert.equal(verdict(await deploy(siteId)), `${now} by changed`);
    });

    test(`somebody else's in progress first, which ends ${old}: it is waited for, and ours ${now} is the verdict`, async () => {
      const siteId = siteAfter(world.sandbox, BUILDING, ended(old), ended(now));
      const run = await world.belay.start({ siteIds: [siteId], deploy: PACE });
      await eventually('the wait for it', () => reads(world.sandbox, latest(siteId)).length > 3);
      assert.equal(posts(world.sandbox, `/v1/sites/${siteId}/deploy`).length, 0);
      world.sandbox.act({ site: siteId });
      assert.equal(verdict(await resultOf(run)), `${now} by changed`);
      assert.equal(began(world.sandbox, 'deployment', siteId).length, 1);
    });

    test(`old ${now}, ours seen in progress and then ${now}: ours, though the status is the same`, async () => {
      const siteId = siteAfter(world.sandbox, ended(now), BUILDING, ended(now));
      const run = await world.belay.start({ siteIds: [siteId], deploy: PACE });
      await eventually('it in progress', () => reads(world.sandbox, latest(siteId)).at(-1)?.said === 'building');
      world.sandbox.act({ site: siteId });
      assert.equal(verdict(await resultOf(run)), `${now} by transition`);
    });

    test(`old ${now}, ours ${now} and never seen in progress: settled after ten seconds at the least`, async () => {
      const startedMs = Date.now();
      const siteId = siteAfter(world.sandbox, ended(now), ended(now));
      assert.equal(verdict(await deploy(siteId)), `${now} by settled`);
      assert.ok(Date.now() - startedMs >= 10_000);
    });
  }

  test('old completed, ours completed, with a budget shorter than the settle time: unknown', async () => {
    const siteId = siteAfter(world.sandbox, COMPLETED, COMPLETED);
    assert.equal(verdict(await deploy(siteId, { tries: 5 })), 'unknown by OutcomeUnknown');
  });

  test('a lost answer and a latest that lags by three reads: found by its trace, one deployment', async () => {
    const siteId = siteAfter(world.sandbox, FAILED, COMPLETED);
    world.sandbox.fault(
      { route: 'deploy', target: siteId, effect: true, answer: { kind: 'reset' } },
      lagging(siteId, 'failed'),
    );
    const result = await deploy(siteId);
    assert.equal(result.outcome, 'completed');
    assert.deepEqual(result.deployments[0]?.trigger, { attempts: 1, ambiguous: true, reconciledBy: 'changed' });
    assert.equal(began(world.sandbox, 'deployment', siteId).length, 1);
  });

  test('a word that never ends: timed out after exactly the tries, with the word', async () => {
    const siteId = siteAfter(world.sandbox, COMPLETED, { ends: 'never', words: ['cancelled'] });
    const result = await deploy(siteId, { tries: 3 });
    assert.equal(result.outcome, 'timed_out');
    assert.equal(result.error?.type, 'DeploymentTimedOut');
    assert.match(result.error?.message ?? '', /after 3 tries, last status "cancelled"/);
    // The baseline and the tries.
    assert.ok((result.deployments[0]?.polls ?? 0) >= 1 + 3);
  });

  test("somebody else's deployment that does not end in time: Busy, nothing triggered, with status and remedy", async () => {
    const siteId = siteAfter(world.sandbox, { ends: 'never', words: ['cancelled'] }, COMPLETED);
    const result = await deploy(siteId, { baselineWaitMs: 1_000 });
    assert.equal(verdict(result), 'not_started by Busy');
    assert.match(result.error?.message ?? '', /"cancelled".*map the status/);
    assert.equal(posts(world.sandbox, `/v1/sites/${siteId}/deploy`).length, 0);
  });

  test('upper case and blanks make no other status: settled, not changed', async () => {
    const siteId = siteAfter(world.sandbox, COMPLETED, ended(' COMPLETED '));
    assert.equal(verdict(await deploy(siteId)), 'completed by settled');
  });

  for (const word of ['COMPLETED', ' Completed\n', 'FAILED']) {
    const now = word.trim().toLowerCase();
    test(`the final word ${JSON.stringify(word)} is ${now}`, async () => {
      const siteId = siteAfter(world.sandbox, null, ended(word));
      assert.equal(verdict(await deploy(siteId)), `${now} by changed`);
    });
  }
});

test('the token is in no history, log or error of these tests', async () => {
  const texts = { ...(await allHistories(world.client)), 'worker log': workerLog(), 'results and errors': SAID.join() };
  assertNowhere(TOKEN, texts, 'DeploymentTimedOut');
});

test('every history of these tests is replayed by the workflows without a difference', async () => {
  assert.ok((await replayAll(world.client)) > 20);
});
