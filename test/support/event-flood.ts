/** Runs beside a flood of events about one server. */
import { setTimeout as sleep } from 'node:timers/promises';
import proto from '@temporalio/proto';
import type { RunResult } from '../../src/contract/run.ts';
import { backupServerId, lockIdOf } from '../../src/contract/ids.ts';
import type { EVENT_SLOTS } from '../../src/worker/settings.ts';
import { resultOf } from './outcome.ts';
import { schedulesPost, type HistoryEvent } from './post-activities.ts';
import { startReceiver } from './receiver.ts';
import { addWorker, belayOn, fresh, TASK_QUEUE, type TestStack } from './world.ts';

const NOT_TAKEN = proto.temporal.api.enums.v1.TimeoutType.TIMEOUT_TYPE_SCHEDULE_TO_START;

const NO_ANSWER = 0;

export interface Flood {
  perSecond: number;
  runs: number;
  /** The flood goes on at least this long, and until the runs have ended. */
  leastMs: number;
  /** Undefined: the default cap. */
  maxPerMinute?: number;
  /** How many words the sender uses for the kind. Events with one word are coalesced. */
  words: number;
  slots?: typeof EVENT_SLOTS;
  /** How long each backup and deployment takes. Default: as the sandbox has it. */
  durationMs?: number;
}

export interface Flooded {
  results: RunResult[];
  /** How many deliveries were answered with which status; 0 if none came, as from a busy machine. */
  answers: Map<number, number>;
  seconds: number;
  /** How many requests were given up because they were not sent in time. */
  notSent: number;
}

/** Without slots of its own, it uses the world's worker. */
export async function flood(world: TestStack, options: Flood): Promise<Flooded> {
  const { perSecond, runs, leastMs, maxPerMinute, words, slots, durationMs } = options;
  const taskQueue = slots === undefined ? TASK_QUEUE : fresh('flood');
  if (slots !== undefined) await addWorker(world, taskQueue, world.sandbox.url, {}, { eventSlots: slots });
  const belay = await belayOn(world, taskQueue);
  const events = {
    sources: { open: { verify: 'none' as const, ...(maxPerMinute !== undefined && { maxPerMinute }) } },
  };
  const receiver = await startReceiver({ ...world, taskQueue }, { events });
  const target = fresh('s');
  const answers = new Map<number, number>();
  const sent: Promise<void>[] = [];
  const startedMs = Date.now();
  let isOver = false;
  const send = async (n: number) => {
    const body = { type: `changed-${n % words}`, server_id: target };
    const delivered = receiver.deliver(body, { source: 'open' });
    const status = await delivered.then(
      (answer) => answer.status,
      () => NO_ANSWER,
    );
    answers.set(status, (answers.get(status) ?? 0) + 1);
  };
  const sending = (async () => {
    for (let n = 0; !isOver || Date.now() - startedMs < leastMs; n += 1) {
      sent.push(send(n));
      const dueMs = startedMs + (n * 1_000) / perSecond;
      if (dueMs > Date.now()) await sleep(dueMs - Date.now());
      else if (n % 10 === 0) await sleep(1);
    }
    await Promise.all(sent);
  })();
  const backup = { intervalMs: 1_000, tries: 300 };
  const started = Array.from({ length: runs }, async (_, index) => {
    // One of them is the one that all events are about; the others start one after another during the flood.
    await sleep((index * leastMs) / (2 * runs));
    const siteId = fresh('a');
    const serverId = index === 0 ? target : fresh('s');
    if (durationMs !== undefined)
      for (const it of [{ site: siteId }, { server: serverId }])
        world.sandbox.script(it, { durationMs, ends: 'completed' });
    const run = await belay.start({ serverId, siteIds: [siteId], backup, deploy: { intervalMs: 1_000, tries: 300 } });
    return resultOf(run);
  });
  const results = await Promise.all(started).finally(() => (isOver = true));
  await sending;
  return { results, answers, seconds: (Date.now() - startedMs) / 1_000, notSent: await countNotSent(world, results) };
}

/** Counts the requests of these results that were given up because they were not sent in time. */
export async function countNotSent({ client }: TestStack, results: readonly RunResult[]): Promise<number> {
  const operations = results.flatMap(({ backup, deployments }) => [
    ...(backup === null ? [] : [backupServerId(backup.serverId)]),
    ...deployments.map(({ target }) => lockIdOf(target)),
  ]);
  const histories = await Promise.all(operations.map((id) => client.workflow.getHandle(id).fetchHistory()));
  return histories.flatMap(({ events }) => notSentIn(events ?? [])).length;
}

/** The ends of requests that a worker refused to send, or that none took in time. */
function notSentIn(events: HistoryEvent[]): HistoryEvent[] {
  const requests = new Set(events.filter(schedulesPost).map(({ eventId }) => String(eventId)));
  return events.filter((event) => {
    const end = event.activityTaskFailedEventAttributes ?? event.activityTaskTimedOutEventAttributes;
    const { applicationFailureInfo, timeoutFailureInfo } = end?.failure ?? {};
    const notSent = applicationFailureInfo?.type === 'NotSent' || timeoutFailureInfo?.timeoutType === NOT_TAKEN;
    return notSent && requests.has(String(end?.scheduledEventId));
  });
}
