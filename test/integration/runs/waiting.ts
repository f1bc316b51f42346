/** What test/sim/rules/runs/waiting.ts proves, on a real server: its events, signals and answers. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { before, describe, test } from 'node:test';
import { backupServerId, deploySiteId } from '../../../src/contract/ids/workflow-ids.ts';
import { eventually } from '../../support/eventually.ts';
import { began } from '../../support/journal.ts';
import { resultOf } from '../../support/outcome.ts';
import { sharedStack } from '../../support/shared-stack.ts';
import { fresh, type TestStack } from '../../support/world.ts';

const QUICK = { durationMs: 500 };

let world: TestStack;
before(async () => {
  world = await sharedStack({ backup: QUICK, deployment: QUICK });
});

/** The history of a wait with this number of tries. */
async function historyOf(tries: number) {
  const serverId = fresh('s');
  world.sandbox.script({ server: serverId }, { ends: 'never' });
  await resultOf(await world.belay.start({ serverId, siteIds: [], backup: { intervalMs: 200, tries } }));
  return (await world.client.workflow.getHandle(backupServerId(serverId)).fetchHistory()).events ?? [];
}

// Each test has sites and servers of its own, and most of them wait, so they run at once.
describe('waiting', { concurrency: 6 }, () => {
  test('a poll costs at most six history events', async () => {
    const timers = (await historyOf(11)).flatMap((it, index) => (it.timerFiredEventAttributes ? [index] : []));
    const costs = timers.slice(1).map((index, before) => index - (timers[before] ?? 0));
    // On a busy machine a few polls cost more events.
    const median = costs.toSorted((a, b) => a - b)[Math.floor(costs.length / 2)] ?? Infinity;
    assert.ok(costs.length >= 5 && median <= 6, `${costs.join(', ')} events`);
  });

  test('a hint triggers a read at once and uses no try', async () => {
    const serverId = fresh('s');
    world.sandbox.script({ server: serverId }, { durationMs: 1_000 });
    const run = await world.belay.start({ serverId, siteIds: [], backup: { intervalMs: 1_800_000, tries: 1 } });
    await eventually('the backup', () => began(world.sandbox, 'backup', serverId).length === 1);
    await sleep(1_100);
    const operation = world.client.workflow.getHandle(backupServerId(serverId));
    await operation.signal('hint');
    const result = await run.result();
    assert.equal(result.backup?.polls, 1);
    const { events } = await operation.fetchHistory();
    assert.ok(!events?.some((it) => it.timerFiredEventAttributes), 'the interval elapsed');
  });

  test('reports what it waits for', async () => {
    const siteId = fresh('a');
    world.sandbox.script({ site: siteId }, { ends: 'never', words: ['building'] });
    const run = await world.belay.start({ siteIds: [siteId], deploy: { intervalMs: 500, tries: 500 } });
    const { result, waiting } = await eventually('a try', async () => {
      const status = await run.status();
      return status.waiting?.kind === 'deployment' && status.waiting.lastStatus === 'building' ? status : null;
    });
    assert.equal(result.outcome, null);
    assert.equal(result.phase, 'deploy');
    assert.equal(result.deployments[0]?.lastStatus, 'building');
    assert.equal(result.deployments[0]?.evidence, 'transition');
    assert.ok(waiting?.kind === 'deployment' && waiting.tries === 500);
    const operation = world.client.workflow.getHandle(deploySiteId(siteId));
    const details = await operation.query<{ currentDetails: string }>('__temporal_workflow_metadata');
    assert.match(details.currentDetails, /: try \d+ of 500, last status `building`, next read at /);
    world.sandbox.finish({ site: siteId }, 'completed');
    await run.result();
  });
});
