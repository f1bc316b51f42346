/** A run of each shape in test/sim/rules/verdicts/evidence.test.ts, on the real server. */
import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { DeployOptions, RunResult } from '../../../src/contract/run.ts';
import type { Fault } from '../../../src/sandbox/faults.ts';
import type { ScriptPart } from '../../../src/sandbox/script.ts';
import { eventually } from '../../support/eventually.ts';
import { began, posts, reads } from '../../support/journal.ts';
import { resultOf, SAID } from '../../support/outcome.ts';
import { COMPLETED, FAILED, siteAfter } from '../../support/sites.ts';
import { verdictLine } from '../../support/verdict-line.ts';
import { allHistories, assertNowhere } from '../../support/token.ts';
import { sharedStack } from '../../support/shared-stack.ts';
import { workerLog } from '../../support/runtime.ts';
import { TOKEN, type TestStack } from '../../support/world.ts';

const PACE = { intervalMs: 500, tries: 60 };
/** Stays in progress until the test finishes it. */
const BUILDING: ScriptPart = { ends: 'never', words: ['building'] };

let world: TestStack;
before(async () => {
  world = await sharedStack();
});

const latest = (siteId: string) => `/v1/sites/${siteId}/deployments/latest`;

async function deploy(siteId: string, more: DeployOptions = {}): Promise<RunResult> {
  return resultOf(await world.belay.start({ siteIds: [siteId], deploy: { ...PACE, ...more } }));
}

/** What `latest` answers up to the third read of the wait, and to the two reads before the trigger. */
const lagging = (siteId: string, status: string): Fault => ({
  route: 'latest',
  target: siteId,
  times: 2 + 3,
  answer: { kind: 'body', code: 200, type: 'application/json', text: JSON.stringify({ status }) },
});

// Each test has sites of its own, and most of them wait, so they run at once.
describe('evidence of our deployment', { concurrency: 24 }, () => {
  test('waits for a foreign deployment that ends completed, then reports ours as failed', async () => {
    const siteId = siteAfter(world.sandbox, BUILDING, COMPLETED, FAILED);
    const run = await world.belay.start({ siteIds: [siteId], deploy: PACE });
    await eventually('the wait for the foreign deployment', () => reads(world.sandbox, latest(siteId)).length > 3);
    assert.equal(posts(world.sandbox, `/v1/sites/${siteId}/deploy`).length, 0);
    world.sandbox.act({ site: siteId });
    assert.equal(verdictLine(await resultOf(run)), 'failed by changed');
    assert.equal(began(world.sandbox, 'deployment', siteId).length, 1);
  });

  test('reports completed after completed by the transition if ours was seen in progress', async () => {
    const siteId = siteAfter(world.sandbox, COMPLETED, BUILDING, COMPLETED);
    const run = await world.belay.start({ siteIds: [siteId], deploy: PACE });
    await eventually('a read in progress', () => reads(world.sandbox, latest(siteId)).at(-1)?.said === 'building');
    world.sandbox.act({ site: siteId });
    assert.equal(verdictLine(await resultOf(run)), 'completed by transition');
  });

  test('a deployment whose POST lost its answer is found by its trace although latest lags by three reads', async () => {
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
});

test('the token is in no history, log or error of these tests', async () => {
  const texts = { ...(await allHistories(world.client)), 'worker log': workerLog(), 'results and errors': SAID.join() };
  assertNowhere(TOKEN, texts, 'transition');
});
