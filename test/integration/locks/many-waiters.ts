import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { tsToMs } from '@temporalio/common/lib/time.js';
import { TIMING } from '../../../src/contract/timing.ts';
import { deploySiteId } from '../../../src/contract/ids/workflow-ids.ts';
import type { RunResult } from '../../../src/contract/run.ts';
import type { Run } from '../../../src/starter.ts';
import { eventually } from '../../support/eventually.ts';
import { began } from '../../support/journal.ts';
import { resultOf } from '../../support/outcome.ts';
import { requestsAt } from '../../support/queued.ts';
import { fresh, startTestStack, type TestStack } from '../../support/world.ts';

const WAITERS = 30;
const LOOKS = 3;
const HAND_OVER_MS = TIMING.lock.handOverMs;
const PACE = { intervalMs: 200, tries: 2_000 };

let world: TestStack;
before(async () => {
  world = await startTestStack({ defaults: { deployment: { durationMs: 0 } } });
});

const eventsOf = async (workflowId: string) =>
  (await world.client.workflow.getHandle(workflowId).fetchHistory()).events ?? [];

type HistoryEvents = Awaited<ReturnType<typeof eventsOf>>;

/** What a run that waits does after it asked the holder. Each timer and each look at the holder is a billed action. */
function actionsOf(events: HistoryEvents) {
  const asked = events.findIndex((it) => it.signalExternalWorkflowExecutionInitiatedEventAttributes);
  const since = events.slice(asked + 1);
  return {
    timersMs: since.flatMap(({ timerStartedEventAttributes: it }) => (it ? [tsToMs(it.startToFireTimeout)] : [])),
    fired: since.filter((it) => it.timerFiredEventAttributes).length,
    looks: since.filter((it) => it.markerRecordedEventAttributes).length,
    asked: since.filter((it) => it.signalExternalWorkflowExecutionInitiatedEventAttributes).length,
    /** On a busy machine, Temporal may not answer a look in time. After a first look without an answer, a run asks twice. */
    failedLooks: events.filter((it) => it.markerRecordedEventAttributes?.failure).length,
  };
}

/** The runs in the order in which they got the lock, until it once was free for longer than a hand-over may take. */
function handedOver(results: RunResult[]): (string | null)[] {
  const spans = results.map(({ workflowId, deployments: [it] }) => {
    return { workflowId, startMs: Date.parse(it?.startedAt ?? ''), endMs: Date.parse(it?.endedAt ?? '') };
  });
  spans.sort((a, b) => a.startMs - b.startMs);
  for (const [index, { startMs }] of spans.entries()) assert.ok(index === 0 || startMs >= spans[index - 1]!.endMs);
  const slow = spans.findIndex(({ startMs }, index) => startMs - (spans[index - 1]?.endMs ?? startMs) >= HAND_OVER_MS);
  return spans.slice(0, slow === -1 ? spans.length : slow).map(({ workflowId }) => workflowId);
}

test('thirty runs wait for one lock at no cost to its holder, and get it in the order in which they asked', async () => {
  const siteId = fresh('a');
  const lockId = deploySiteId(siteId);
  const deploy = (): Promise<Run> => world.belay.start({ siteIds: [siteId], deploy: PACE });
  // Each end differs from the one before, so one read is enough for its verdict.
  const ends = Array.from({ length: WAITERS }, (_, n) => (n % 2 === 0 ? ('failed' as const) : ('completed' as const)));
  world.sandbox.script({ site: siteId }, { ends: 'never' }, ...ends.map((it) => ({ durationMs: 0, ends: it })));
  const holder = await deploy();
  await eventually('the deployment', () => began(world.sandbox, 'deployment', siteId).length === 1);
  const waiting: Run[] = [];
  while (waiting.length < WAITERS) {
    waiting.push(await deploy());
    await requestsAt(world.client, lockId, waiting.length);
  }
  const before = await eventsOf(lockId);
  const actions = await Promise.all(
    waiting.map(({ workflowId }) =>
      eventually('its looks at the holder', async () => {
        const seen = actionsOf(await eventsOf(workflowId));
        return seen.fired >= LOOKS ? seen : null;
      }),
    ),
  );
  const since = (await eventsOf(lockId)).slice(before.length);
  // Its own reads go on.
  assert.ok(since.length > 0);
  const signals = since.filter((it) => it.workflowExecutionSignaledEventAttributes).length;
  const failedLooks = actions.reduce((sum, it) => sum + it.failedLooks, 0);
  assert.ok(signals <= failedLooks, `${signals} signals`);
  for (const { timersMs, looks, asked, failedLooks: failed } of actions) {
    assert.deepEqual(new Set(timersMs), new Set([TIMING.lock.lookAgainMs]));
    assert.ok(looks <= timersMs.length + failed, `${looks} looks, ${timersMs.length} timers`);
    assert.ok(asked <= failed, `asked ${asked} times more`);
  }
  world.sandbox.finish({ site: siteId }, 'completed');
  const runs = [holder, ...waiting];
  const results = await Promise.all(runs.map((run) => resultOf(run)));
  const order = handedOver(results);
  const asked = runs.map(({ workflowId }) => workflowId);
  assert.deepEqual(order, asked.slice(0, order.length));
  assert.ok(results.every(({ outcome }) => outcome === 'completed' || outcome === 'failed'));
  assert.equal(began(world.sandbox, 'deployment', siteId).length, 1 + WAITERS);
});
