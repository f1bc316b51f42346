/** What channels and heartbeats learn of runs and events. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { textOf } from '../../../../src/features/notifications/worker-channels.ts';
import type { Configuration } from '../../../../src/config/load.ts';
import { runEndId } from '../../../../src/contract/ids.ts';
import type { Notification } from '../../../../src/features/notifications/shapes.ts';
import type { RunInput } from '../../../../src/contract/run.ts';
import type { ScheduledInput } from '../../../../src/features/schedules/shapes.ts';
import { TIMING } from '../../../../src/contract/timing.ts';
import { fresh } from '../../../support/fresh.ts';
import { deliver, handled } from '../../stack/deliver-event.ts';
import { freezeNow } from '../../stack/freeze-now.ts';
import { inVirtualTime, type VirtualStack } from '../../stack/stack.ts';
import { seededTape } from '../../tape.ts';
import type { Run } from '../../temporal/types.ts';
import { SERVICE_URL } from '../../world.ts';

const CHANNELS = ['ops', 'team'];
/** Text that Slack would show as a mention of all members and a link. */
const OUTSIDE = '<!channel> & <http://x|y>';
const ESCAPED = '&lt;!channel&gt; &amp; &lt;http://x|y&gt;';

const notifying = (body: (stack: VirtualStack) => Promise<void>, on: 'failed' | 'all' = 'failed') =>
  inVirtualTime(body, { notify: { on, channels: CHANNELS, heartbeats: ['night', 'noon'] } });

/** A run of a backup that ends at once with this status word. */
function backUp({ sandbox, start }: VirtualStack, ends: string, more: Partial<RunInput> = {}): Run {
  const serverId = more.serverId ?? fresh('server-');
  sandbox.script({ server: serverId }, { durationMs: 0, ends });
  return start({ serverId, siteIds: [], ...more });
}

const endId = ({ workflowId, runId }: Run) => runEndId(workflowId, runId);
const isAnnounced = ({ world }: VirtualStack, run: Run) => world.server.find(endId(run)) !== undefined;
const takenOf = ({ world }: VirtualStack, id: string) =>
  world.notices.taken.filter(({ notification }) => notification.id === id);
const channelsOf = (stack: VirtualStack, id: string) => takenOf(stack, id).map(({ channel }) => channel);

/** Lets time pass until every channel has received one message about the end of the run. */
async function messageOf(stack: VirtualStack, run: Run): Promise<Extract<Notification, { kind: 'run' }>> {
  await stack.result(run);
  await stack.until('the messages', () => stack.world.server.find(endId(run))?.closedMs);
  assert.deepEqual(channelsOf(stack, endId(run)).sort(), CHANNELS);
  const { notification } = takenOf(stack, endId(run))[0]!;
  assert.ok(notification.kind === 'run');
  return notification;
}

describe('notifications of runs', () => {
  test(
    'every channel is notified once of the end of a run, and of a completed run only with on: all',
    notifying(async (stack) => {
      await messageOf(stack, backUp(stack, 'failed'));
      const completed = backUp(stack, 'completed');
      await stack.result(completed);
      assert.equal(isAnnounced(stack, completed), false);
      const cancelled = backUp(stack, 'completed', { backup: { intervalMs: 60_000, tries: 5 } });
      await stack.forward(1_000);
      stack.cancel(cancelled);
      assert.match(textOf(await messageOf(stack, cancelled)), /^(cancelled|not_started): backup:/);
    }),
  );

  test(
    'with on: all, every channel is notified of a completed run',
    notifying(async (stack) => {
      assert.match(textOf(await messageOf(stack, backUp(stack, 'completed'))), /^completed: backup:/);
    }, 'all'),
  );

  test(
    'a run ends before a channel that hangs is notified, and only that channel is retried',
    notifying(async (stack) => {
      stack.world.notices.troubles.push({ channel: 'team', does: 'hangs' });
      const run = backUp(stack, 'failed');
      await stack.result(run);
      await stack.forward(TIMING.notify.answerMs / 2);
      assert.deepEqual(channelsOf(stack, endId(run)), ['ops']);
      assert.equal(stack.world.server.find(endId(run))?.closedMs, null);
      await messageOf(stack, run);
    }),
  );

  test(
    'a channel is retried until it accepts the message, for at most a day',
    notifying(async (stack) => {
      const { world, until } = stack;
      const fails = { channel: 'team', does: 'fails' } as const;
      world.notices.troubles.push(fails, fails, fails);
      const [patient, hopeless] = [backUp(stack, 'failed'), backUp(stack, 'failed')];
      await messageOf(stack, patient);
      world.notices.troubles.push(...Array.from({ length: 1_000 }, () => fails));
      const given = backUp(stack, 'failed');
      await messageOf(stack, hopeless);
      await stack.result(given);
      const end = await until('the end', () => world.server.find(endId(given)));
      await until('the last attempt', () => end.closedMs);
      assert.ok(end.outcome !== null && end.outcome !== 'terminated' && 'failure' in end.outcome);
      assert.match(end.outcome.failure.message ?? '', /^not delivered within a day: team; check the address/);
      assert.deepEqual(channelsOf(stack, endId(given)), ['ops']);
      assert.ok(end.closedMs! - end.startedMs <= TIMING.notify.giveUpAfterMs);
    }),
  );

  test(
    'channels are notified if no worker picked the run up in time',
    notifying(async (stack) => {
      stack.world.restartWorkers(10_000);
      const run = backUp(stack, 'completed', { startWithinMs: 5_000 });
      const { result } = await messageOf(stack, run);
      assert.equal(result.error?.type, 'NoWorker');
    }),
  );

  test(
    'channels are notified if the run was meant for another service',
    notifying(async (stack) => {
      const run = backUp(stack, 'completed', { service: 'https://other.example' });
      const { result } = await messageOf(stack, run);
      assert.equal(result.error?.type, 'Refused');
    }),
  );

  test(
    'the notification of a run with many sites reports how many it omits',
    notifying(async (stack) => {
      const siteIds = Array.from({ length: 70 }, () => fresh('a'));
      const message = await messageOf(stack, stack.start({ siteIds, heartbeat: 'unknown' }));
      const listed = textOf(message).match(/^deployment of /gm)?.length ?? 0;
      assert.ok(listed > 0);
      assert.match(textOf(message), new RegExp(`\nand ${70 - listed} more$`));
      assert.equal(message.leftOut + message.result.deployments.length, 70);
    }),
  );

  test(
    'a run that fails says that this pauses its schedule, if it does, and one that is frozen says nothing of it',
    notifying(async (stack) => {
      const fired = async (schedule: string, pauseOnFailure: boolean) => {
        const siteId = fresh('site-');
        stack.sandbox.script({ site: siteId }, { durationMs: 20_000, ends: 'failed' });
        const input: ScheduledInput = {
          ...{ fleet: 'shop', schedule, when: 'daily', timeZone: 'UTC', catchUpMs: 3_600_000, pauseOnFailure },
          slot: { granularity: 'instant', times: [] },
          start: { type: 'deployOnly', input: { siteIds: [siteId], service: SERVICE_URL } },
        };
        const firing = stack.startByHand('runScheduled', `scheduled:shop:${schedule}`, input);
        await stack.until('the end of the firing', () => firing.closedMs);
        const run = stack.world.server.runs.find(({ parent }) => parent?.runId === firing.runId)!;
        return (await messageOf(stack, run)).pausesSchedule;
      };
      assert.equal(await fired('night', true), 'belay:shop:night');
      assert.equal(await fired('noon', false), undefined);
      freezeNow(stack.world.server);
      assert.equal(await fired('dusk', true), undefined);
    }),
  );

  test(
    'outside text is escaped in the text of a run notification and nowhere else',
    notifying(async (stack) => {
      const serverId = `${OUTSIDE} ${fresh('s')}`;
      const backup = { intervalMs: 5_000, tries: 2 };
      const message = await messageOf(stack, backUp(stack, `still ${OUTSIDE}`, { serverId, backup }));
      const { backup: made } = message.result;
      assert.deepEqual([made?.serverId, made?.lastStatus], [serverId, `still ${OUTSIDE}`]);
      const [, why, named] = textOf(message).split('\n');
      assert.ok(why?.includes(`still ${ESCAPED}`) && named?.startsWith(`backup of ${ESCAPED} s`), textOf(message));
    }),
  );
});

describe('heartbeats', () => {
  test(
    'a heartbeat is called only after a completed run that names it',
    notifying(async (stack) => {
      await messageOf(stack, backUp(stack, 'failed', { heartbeat: 'noon' }));
      const silent = backUp(stack, 'completed');
      await stack.result(silent);
      assert.equal(isAnnounced(stack, silent), false);
      const asked = backUp(stack, 'completed', { heartbeat: 'night' });
      await stack.result(asked);
      await stack.until('the call', () => stack.world.server.find(endId(asked))?.closedMs);
      assert.deepEqual([stack.world.notices.beats, channelsOf(stack, endId(asked))], [['night'], []]);
    }),
  );

  test(
    'a heartbeat unknown to the worker ends the run before it makes anything',
    notifying(async (stack) => {
      const { sandbox, result } = stack;
      const serverId = fresh('server-');
      const run = backUp(stack, 'completed', { serverId, heartbeat: 'nihgt', siteIds: [`of-${serverId}`] });
      const { outcome, error } = await result(run);
      assert.deepEqual([outcome, error?.type], ['not_started', 'Usage']);
      assert.match(error?.message ?? '', /has no heartbeat "nihgt": add it to notify\.heartbeats/);
      assert.ok(!sandbox.journal.some(({ request }) => request.includes(serverId)));
    }),
  );

  test(
    'a heartbeat that one of three workers knows is admitted and called by that worker',
    inVirtualTime(
      async (stack) => {
        const { world, result, until } = stack;
        world.addWorker();
        world.addWorker({ notify: { on: 'failed', channels: [], heartbeats: ['night'] } });
        const runs = Array.from({ length: 6 }, () => backUp(stack, 'completed', { heartbeat: 'night' }));
        for (const run of runs) {
          const { outcome, error } = await result(run);
          assert.equal(outcome, 'completed', error?.message);
        }
        await until('the calls', () => world.notices.beats.length === runs.length);
      },
      { tape: seededTape(1) },
    ),
  );
});

const KINDS = ['alert.fired', 'backup.failed', 'resource.deleted', 'backup.started', 'something'];

/** The channels notified of one event of each kind. */
type Reactions = NonNullable<Configuration['events']>['reactions'];

async function notifiedOf(stack: VirtualStack, reactions?: Reactions): Promise<string[][]> {
  const configuration = reactions === undefined ? {} : { events: { reactions } };
  const notified: string[][] = [];
  for (const kind of KINDS) {
    const event = deliver(stack, kind, {}, { configuration });
    notified.push((await handled(stack, event)).notified);
    assert.deepEqual(channelsOf(stack, event.workflowId).sort(), notified.at(-1));
  }
  return notified;
}

describe('notifications of events', () => {
  test(
    'channels are notified of events for alerts, failed backups and deletions',
    notifying(async (stack) => {
      assert.deepEqual(await notifiedOf(stack), [CHANNELS, CHANNELS, CHANNELS, [], []]);
    }),
  );

  test(
    'channels are notified of the events that events.reactions selects',
    notifying(async (stack) => {
      const reactions: Reactions = { 'alert.fired': [], 'backup.failed': ['end-wait'], unknown: ['notify'] };
      assert.deepEqual(await notifiedOf(stack, reactions), [[], [], CHANNELS, [], CHANNELS]);
    }),
  );

  test(
    'the notification of an event names its resources and escapes outside text',
    notifying(async (stack) => {
      const type = `alert.fired ${OUTSIDE}`;
      const event = deliver(stack, type, { server_id: OUTSIDE, site_id: 'a1' }, { source: 'open' });
      await handled(stack, event);
      const { notification } = takenOf(stack, event.workflowId)[0]!;
      const words = `alert.fired ("alert.fired ${ESCAPED}"): server ${ESCAPED}, site a1, from open, not verified`;
      assert.equal(textOf(notification), words);
      assert.ok(notification.kind === 'event');
      const { kind, event: named, verified } = notification;
      assert.deepEqual([kind, named.rawKind, named.serverId, verified], ['event', type, OUTSIDE, false]);
    }),
  );
});
