/** A POST whose worker, a separate process, is killed, stopped or absent. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { tsToMs } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';
import type { RunInput, TriggerReport } from '../../src/contract/run.ts';
import { backupServerId, deploySiteId } from '../../src/contract/ids.ts';
import { SIGNALS } from '../../src/contract/names.ts';
import type { Fault } from '../../src/sandbox/faults.ts';
import type { Belay, Run } from '../../src/starter.ts';
import { clockAhead } from './clock-ahead.ts';
import { eventually } from './eventually.ts';
import { began, posts, reads } from './journal.ts';
import { resultOf, SAID } from './outcome.ts';
import { isPost, schedulesPost } from './post-activities.ts';
import { startWorkerProcess, type Started } from './processes.ts';
import { COMPLETED, FAILED, siteAfter } from './sites.ts';
import { tempFolder } from './temporal.ts';
import { allFiles, allHistories } from './token.ts';
import {
  addWorker,
  addWorkerWithoutPosts,
  belayOn,
  fresh,
  startTestStack,
  temporalEnv,
  TOKEN,
  type TestStack,
} from './world.ts';

/** The tries bound the time for which a request waits for a worker. */
const PACE = { intervalMs: 500, tries: 600 };
/** Without a trace, a request is sent again only if no read was late. The long interval lets a busy machine read late. */
export const LATE_READS = { intervalMs: 10_000, tries: 60 };

let world: TestStack;
let folder: string;
const processes: Started[] = [];

let starting: Promise<TestStack> | undefined;

/** Starts everything, with Temporal's database in a file: once for all suites of a test file. */
export const startTestTemporal = (): Promise<TestStack> => (starting ??= startDurable());

async function startDurable(): Promise<TestStack> {
  folder = await tempFolder();
  const temporal = { dbFile: join(folder, 'temporal.db'), logFile: join(folder, 'temporal.log') };
  return (world = await startTestStack({ defaults: { backup: COMPLETED }, temporal }));
}

/** @param extra variables for this worker */
export async function workerProcess(taskQueue: string, extra: Record<string, string> = {}): Promise<Started> {
  const env = { ...temporalEnv(world), BELAY_API_URL: world.sandbox.url, BELAY_TASK_QUEUE: taskQueue };
  const worker = await startWorkerProcess({ ...env, BELAY_API_TOKEN: TOKEN, ...extra });
  processes.push(worker);
  return worker;
}

/** A new queue with a worker as a separate process. */
export async function place(clockAheadMs = 0): Promise<{ queue: string; worker: Started; belay: Belay }> {
  const queue = fresh('queue');
  const worker = await workerProcess(queue, clockAhead(clockAheadMs));
  return { queue, worker, belay: await belayOn(world, queue) };
}

export const another = (queue: string) => addWorker(world, queue, world.sandbox.url);

export async function kill({ process: child, finished }: Started): Promise<void> {
  child.kill('SIGKILL');
  await finished;
}

export interface Operation {
  run: Run;
  lockId: string;
  kind: 'deployment' | 'backup';
  target: string;
  path: string;
}

export type Post = Pick<Fault, 'answer' | 'effect' | 'delayMs'>;
export const ANSWERED: Post = { answer: { kind: 'true' } };
export const ANSWERED_LATE: Post = { answer: { kind: 'true' }, delayMs: 4_000 };
export const WITHOUT_EFFECT: Post = { answer: { kind: 'none' } };

/** Runs a deployment whose first POST ends like this. The last one failed, so completion leaves a lasting trace. */
export async function deploy(belay: Belay, post: Post, pace: object = PACE): Promise<Operation> {
  const siteId = siteAfter(world.sandbox, FAILED, COMPLETED);
  world.sandbox.fault({ ...post, route: 'deploy', target: siteId });
  const run = await belay.start({ siteIds: [siteId], deploy: { ...PACE, ...pace } });
  const path = `/v1/sites/${siteId}/deploy`;
  return { run, lockId: deploySiteId(siteId), kind: 'deployment', target: siteId, path };
}

export async function backUp(belay: Belay, post: Post): Promise<Operation> {
  const serverId = fresh('s');
  world.sandbox.fault({ ...post, route: 'create-backup', target: serverId });
  const run = await belay.start({ serverId, siteIds: [], backup: PACE });
  const path = `/v1/servers/${serverId}/backups`;
  return { run, lockId: backupServerId(serverId), kind: 'backup', target: serverId, path };
}

export const sent = ({ path }: Operation, times = 1) =>
  eventually(`POST ${path}`, () => posts(world.sandbox, path).length >= times);

/** The POST as a pending activity in Temporal, whatever its worker does. */
export const pending = async ({ lockId }: Pick<Operation, 'lockId'>) => {
  const { raw } = await world.client.workflow.getHandle(lockId).describe();
  return raw.pendingActivities?.find(({ activityType }) => isPost(activityType));
};

/** The history of a deployment, and which of its events belong to a POST. */
export async function postEvents(lockId: string) {
  const history = await world.client.workflow.getHandle(lockId).fetchHistory();
  const events = history.events ?? [];
  const ids = events.filter(schedulesPost).map(({ eventId }) => String(eventId));
  return { events, isOfPost: (it?: Scheduled | null) => ids.includes(String(it?.scheduledEventId)) };
}

const isRead = (name?: string | null): boolean => name === 'readLatestDeployment' || name === 'readBackup';

interface Scheduled {
  scheduledEventId?: unknown;
}

/**
 * Waits until the workflow knows of a read after its POST: a killed worker loses a read that Temporal has not recorded,
 * and the next one learns late of a read that no workflow task has followed.
 *
 * @returns how long after the POST the workflow learned of it
 */
export const readSincePost = ({ lockId }: Operation): Promise<number> =>
  eventually('a read after the POST that the workflow knows of', async () => {
    const { events } = await world.client.workflow.getHandle(lockId).fetchHistory();
    const post = events?.findIndex(schedulesPost) ?? -1;
    const since = post < 0 ? [] : (events ?? []).slice(post);
    const reads = since.filter((it) => isRead(it.activityTaskScheduledEventAttributes?.activityType?.name));
    const ids = reads.map(({ eventId }) => String(eventId));
    const read = since.findIndex((it) =>
      ids.includes(String(it.activityTaskCompletedEventAttributes?.scheduledEventId)),
    );
    const known = read < 0 ? undefined : since.slice(read).find((it) => it.workflowTaskCompletedEventAttributes);
    return known && tsToMs(known.eventTime) - tsToMs(since[0]!.eventTime);
  });

/** Has the workflow read at once, as an event of the service does, until it has ended. */
export const hintedToItsEnd = ({ lockId }: Operation) =>
  eventually('the end of the operation', async () => {
    const lock = world.client.workflow.getHandle(lockId);
    if ((await lock.describe()).status.name !== 'RUNNING') return true;
    await lock.signal(SIGNALS.hint).catch((error: Error) => assert.equal(error.name, 'WorkflowNotFoundError'));
    return false;
  });

export async function assertEnd(
  { run, kind, target, path }: Operation,
  expected: { outcome?: string; trigger: TriggerReport; effects: number; sent?: number },
): Promise<string> {
  const { outcome, error, deployments, backup } = await resultOf(run);
  const part = kind === 'backup' ? backup : deployments[0];
  const effects = began(world.sandbox, kind, target).length;
  const { trigger } = expected;
  const end = { outcome: expected.outcome ?? 'completed', trigger, effects: expected.effects };
  assert.deepEqual({ outcome, trigger: part?.trigger, effects }, end, error?.message);
  assert.equal(posts(world.sandbox, path).length, expected.sent ?? trigger.attempts);
  return error?.message ?? '';
}

export const ONCE: TriggerReport = { attempts: 1, ambiguous: false, reconciledBy: null };
export const FOUND: TriggerReport = { attempts: 1, ambiguous: true, reconciledBy: 'changed' };
export const RESENT: TriggerReport = { attempts: 2, ambiguous: true, reconciledBy: 'resent' };

/** A deployment whose POST is left to workers other than the one that reads and decides. */
export async function watchedOnly(
  pace: RunInput['deploy'] = PACE,
  prepare: (queue: string) => Promise<void> = async () => undefined,
) {
  const queue = fresh('queue');
  const stopWatching = await addWorkerWithoutPosts(world, queue);
  // A foreign deployment delays it until everything is ready.
  const siteId = siteAfter(world.sandbox, { ends: 'never' }, FAILED, COMPLETED);
  const belay = await belayOn(world, queue);
  const run = await belay.start({ siteIds: [siteId], deploy: pace });
  const latest = `/v1/sites/${siteId}/deployments/latest`;
  await eventually('the wait for the baseline', () => reads(world.sandbox, latest).length > 1);
  await prepare(queue);
  world.sandbox.act({ site: siteId });
  const path = `/v1/sites/${siteId}/deploy`;
  const operation: Operation = { run, lockId: deploySiteId(siteId), kind: 'deployment', target: siteId, path };
  return { operation, queue, belay, stopWatching };
}

/** A POST that Temporal gave to a stopped worker. */
export async function givenToStopped(clockAheadMs = 0) {
  let stopped: Started | undefined;
  const watched = await watchedOnly(LATE_READS, async (queueName) => {
    stopped = await workerProcess(queueName, clockAhead(clockAheadMs));
    await eventually('its poll for activities', () => polledForActivities(queueName));
    // Its long polls stay open, so Temporal does not know that it is stopped.
    stopped.process.kill('SIGSTOP');
  });
  await eventually('the POST at the stopped worker', async () => (await pending(watched.operation))?.lastStartedTime);
  return { ...watched, worker: stopped! };
}

/** Takes the POST of a deployment as a worker does. */
export async function takePost(name: string) {
  const { namespace, client } = world;
  const identity = 'a worker that takes one activity';
  const poll = { namespace, taskQueue: { name }, identity };
  const taken = await client.withDeadline(Date.now() + 60_000, () =>
    client.workflowService.pollActivityTaskQueue(poll),
  );
  const { workflowId, runId } = taken.workflowExecution!;
  const { taskToken, activityId } = taken;
  return {
    ...{ taskToken, activityId, workflowId: workflowId!, runId: runId! },
    scheduledMs: tsToMs(taken.currentAttemptScheduledTime),
  };
}

async function polledForActivities(name: string): Promise<boolean> {
  const { pollers } = await world.client.workflowService.describeTaskQueue({
    namespace: world.namespace,
    taskQueue: { name },
    taskQueueType: proto.temporal.api.enums.v1.TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
  });
  return pollers.length > 0;
}

/** Everything that these tests left, to search it for the token. */
export async function whatIsLeft(): Promise<Record<string, string>> {
  const logs = processes.map(({ output }, index) => [`log ${index}`, output.stdout + output.stderr] as const);
  return {
    ...(await allHistories(world.client)),
    ...(await allFiles(folder)),
    ...Object.fromEntries(logs),
    'results and errors': SAID.join(),
  };
}
