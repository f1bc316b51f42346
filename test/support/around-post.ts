/** A POST and the worker around it, which is a process: it is killed, stopped or away. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import proto from '@temporalio/proto';
import type { TriggerReport } from '../../src/contract/run.ts';
import { backupServerId, deploySiteId } from '../../src/contract/ids/workflow-ids.ts';
import type { Fault } from '../../src/sandbox/hosting/faults.ts';
import type { Belay, Run } from '../../src/starter.ts';
import { eventually } from './eventually.ts';
import { began, posts, reads } from './journal.ts';
import { resultOf, SAID } from './outcome.ts';
import { startWorkerProcess, type Started } from './processes.ts';
import { COMPLETED, FAILED, siteAfter } from './sites.ts';
import { tempFolder } from './temporal.ts';
import { allFiles, allHistories } from './token.ts';
import { addWorker, addWorkerWithoutPosts, belayOn, fresh, startWorld, TOKEN, type World } from './world.ts';

const PACE = { intervalMs: 500, tries: 60 };

let world: World;
let folder: string;
const processes: Started[] = [];

/** Once in a test file: everything, with Temporal's database in a file. */
export async function startPlaces(): Promise<World> {
  folder = await tempFolder();
  const temporal = { dbFile: join(folder, 'temporal.db'), logFile: join(folder, 'temporal.log') };
  return (world = await startWorld({ defaults: { backup: COMPLETED }, temporal }));
}

async function workerProcess(taskQueue: string): Promise<Started> {
  const env = { TEMPORAL_ADDRESS: world.address, BELAY_API_URL: world.sandbox.url, BELAY_TASK_QUEUE: taskQueue };
  const worker = await startWorkerProcess({ ...env, BELAY_API_TOKEN: TOKEN });
  processes.push(worker);
  return worker;
}

/** A queue of its own with a worker that is a process. */
export async function place(): Promise<{ queue: string; worker: Started; belay: Belay }> {
  const queue = fresh('queue');
  const worker = await workerProcess(queue);
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
export const ANSWERED_LATE: Post = { answer: { kind: 'true' }, delayMs: 4_000 };
export const WITHOUT_EFFECT: Post = { answer: { kind: 'none' } };

/** Runs one whose first POST ends so; over a failed deployment, so that a completed one leaves a trace for good. */
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

/** What Temporal thinks of the POST, whatever its worker does. */
export const pending = async ({ lockId }: Pick<Operation, 'lockId'>) => {
  const { raw } = await world.client.workflow.getHandle(lockId).describe();
  return raw.pendingActivities?.find(({ activityType }) =>
    /^(triggerDeployment|createBackup)$/.test(activityType?.name ?? ''),
  );
};

/** A read since the POST, recorded: what a worker only knows is gone with it. */
export const readSincePost = ({ lockId }: Operation) =>
  eventually('a read after the POST', async () => {
    const { events } = await world.client.workflow.getHandle(lockId).fetchHistory();
    const post = events?.findIndex(
      ({ activityTaskScheduledEventAttributes: it }) => it?.activityType?.name === 'triggerDeployment',
    );
    return post !== undefined && post >= 0 && events?.slice(post).some((event) => event.markerRecordedEventAttributes);
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

/** A deployment whose POST is left to other workers than the one that reads and decides. */
export async function watchedOnly(prepare: (queue: string) => Promise<void> = async () => undefined) {
  const queue = fresh('queue');
  await addWorkerWithoutPosts(world, queue);
  // Somebody else's deployment holds it up until everything is ready.
  const siteId = siteAfter(world.sandbox, { ends: 'never' }, FAILED, COMPLETED);
  const belay = await belayOn(world, queue);
  const run = await belay.start({ siteIds: [siteId], deploy: PACE });
  const latest = `/v1/sites/${siteId}/deployments/latest`;
  await eventually('the baseline is waited for', () => reads(world.sandbox, latest).length > 1);
  await prepare(queue);
  world.sandbox.act({ site: siteId });
  const path = `/v1/sites/${siteId}/deploy`;
  const operation: Operation = { run, lockId: deploySiteId(siteId), kind: 'deployment', target: siteId, path };
  return { operation, queue };
}

/** A POST that Temporal gave to a worker which does nothing any more. */
export async function givenToStopped() {
  let stopped: Started | undefined;
  const { operation, queue } = await watchedOnly(async (queueName) => {
    stopped = await workerProcess(queueName);
    await eventually('its poll for activities', () => polledForActivities(queueName));
    // Its long polls stay: nobody knows that it is stopped.
    stopped.process.kill('SIGSTOP');
  });
  await eventually('the POST is given to it', async () => (await pending(operation))?.lastStartedTime);
  return { operation, queue, worker: stopped! };
}

async function polledForActivities(name: string): Promise<boolean> {
  const { pollers } = await world.client.workflowService.describeTaskQueue({
    namespace: 'default',
    taskQueue: { name },
    taskQueueType: proto.temporal.api.enums.v1.TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
  });
  return pollers.length > 0;
}

/** Everything these tests left, for the search for the token. */
export async function whatIsLeft(): Promise<Record<string, string>> {
  const logs = processes.map(({ output }, index) => [`log ${index}`, output.stdout + output.stderr] as const);
  return {
    ...(await allHistories(world.client)),
    ...(await allFiles(folder)),
    ...Object.fromEntries(logs),
    'results and errors': SAID.join(),
  };
}
