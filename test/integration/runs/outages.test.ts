/** Runs with an outage budget while real connections fail. The rules are tested in test/sim/rules/answers. */
import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { QUERIES } from '../../../src/contract/names.ts';
import type { Explanation } from '../../../src/contract/waiting.ts';
import { deploySiteId } from '../../../src/contract/ids.ts';
import type { ScriptPart } from '../../../src/sandbox/script.ts';
import type { Belay, Run } from '../../../src/starter.ts';
import { eventually } from '../../support/eventually.ts';
import { posts } from '../../support/journal.ts';
import { resultOf } from '../../support/outcome.ts';
import { relayTo, type Relay } from '../../support/relay.ts';
import { sharedStack } from '../../support/shared-stack.ts';
import { COMPLETED, FAILED, siteAfter } from '../../support/sites.ts';
import { verdictLine } from '../../support/verdict-line.ts';
import { addWorker, belayOn, fresh, type TestStack } from '../../support/world.ts';

const PACE = { intervalMs: 300, tries: 60 };
const PATIENT = { outageBudgetMs: 300_000 };
/** Stays in progress until the test finishes it. */
const BUILDING: ScriptPart = { ends: 'never', words: ['building'] };

let world: TestStack;
before(async () => {
  world = await sharedStack();
});

/** A worker behind its own relay. */
async function behindRelay(): Promise<{ way: Relay; belay: Belay }> {
  const [queue, way] = [fresh('queue'), await relayTo(world.sandbox.url)];
  await addWorker(world, queue, way.url);
  return { way, belay: await belayOn(world, queue) };
}

const deployPosts = (siteId: string) => posts(world.sandbox, `/v1/sites/${siteId}/deploy`).length;

const parked = (run: Run) =>
  eventually('the parked run', async () => {
    const { result, waiting } = await run.status();
    assert.equal(result.outcome, null, result.error?.message);
    return result.phase === 'parked' ? waiting : null;
  });

/** A run that waits for its own deployment, which stays in progress. */
async function building() {
  const { way, belay } = await behindRelay();
  const siteId = siteAfter(world.sandbox, FAILED, BUILDING);
  const run = await belay.start({ siteIds: [siteId], deploy: PACE, ...PATIENT });
  // The journal also has answers that a relay drops on their way.
  await eventually('a read in progress', async () => {
    return (await run.status()).result.deployments[0]?.lastStatus === 'building';
  });
  return { way, siteId, run };
}

/** A run whose request gets no answer and has no effect, and then the service is down. */
async function ambiguous() {
  const { way, belay } = await behindRelay();
  const siteId = siteAfter(world.sandbox, FAILED, COMPLETED);
  world.sandbox.fault({ route: 'deploy', target: siteId, effect: false, answer: { kind: 'none' } });
  const run = await belay.start({ siteIds: [siteId], deploy: PACE, ...PATIENT });
  await eventually('the request', () => deployPosts(siteId) > 0);
  way.fail();
  return { way, siteId, run };
}

// Each test has a worker and a relay of its own, and most of them wait.
describe('while the service is down', { concurrency: 4 }, () => {
  test('a parked deployment shows it in its phase, its explanation and the UI', async () => {
    const { way, siteId, run } = await building();
    way.fail();
    await parked(run);
    const lock = world.client.workflow.getHandle(deploySiteId(siteId));
    const { sentence } = await lock.query<Explanation>(QUERIES.why);
    assert.match(sentence, /parked since 20.*at most until 20.*the service does not answer \(".*503.*next read at 20/);
    const { currentDetails } = await lock.query<{ currentDetails: string }>('__temporal_workflow_metadata');
    assert.match(currentDetails, /parked since 20/);
    assert.deepEqual((await lock.describe()).searchAttributes.BelayPhase, ['parked']);
    await way.open();
    await eventually('the end of the outage', async () => (await run.status()).result.phase === 'deploy');
    assert.deepEqual((await lock.describe()).searchAttributes.BelayPhase, ['wait']);
    world.sandbox.finish({ site: siteId }, 'completed');
    assert.equal(verdictLine(await resultOf(run)), 'completed by transition');
  });

  // The outage has to be shorter than the gap that reads may leave, which needs the short time budgets.
  test('an ambiguous request is not sent again after an outage', async () => {
    const { way, siteId, run } = await ambiguous();
    await parked(run);
    await way.open();
    const { outcome, error, deployments } = await resultOf(run);
    assert.deepEqual([outcome, error?.type], ['unknown', 'OutcomeUnknown']);
    assert.match(error?.message ?? '', /left no trace, but the status was not read for a while/);
    assert.equal(deployments[0]?.trigger.attempts, 1);
    assert.equal(deployPosts(siteId), 1);
  });
});
