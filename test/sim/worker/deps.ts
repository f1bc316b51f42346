/** What the activities of a worker reach: the service and the server, both over networks of the simulator. */
import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { ActivityDeps } from '../../../src/activities/deps.ts';
import { DEFAULT_TASK_QUEUE } from '../../../src/contract/names.ts';
import { TIMING } from '../../../src/contract/timing.ts';
import { findFreezes } from '../../../src/features/freezes/client.ts';
import { lookupsAndSignals } from '../../../src/client/lookups/index.ts';
import { startedBy } from '../../../src/client/lookups/runs.ts';
import { createHostingApiClient } from '../../../src/hosting-api/index.ts';
import { createApprovalJudge } from '../../../src/features/approvals/worker.ts';
import { createFreezeJudge, type FindFreezes } from '../../../src/features/freezes/worker.ts';
import { fixedPolicy } from '../../../src/config/live-policy.ts';
import { HTTP_TIMEOUTS } from '../../../src/worker/probe-service.ts';
import { createModelClient } from '../temporal/client.ts';
import { createGetPage } from './meter.ts';
import { createNotifier } from './notices.ts';
import type { ActivityTask } from '../temporal/activities.ts';
import type { Ask, WorkerParts } from './parts.ts';
import { createSites } from './sites.ts';
import { createSend } from './wire.ts';

/** @param onPost called when the POST of an activity leaves */
export function createDeps(
  parts: WorkerParts,
  own: Pick<ActivityDeps, 'rest' | 'admission'>,
  ask: Ask,
  taskOf: (token: Uint8Array) => ActivityTask,
  onPost: (task: ActivityTask) => void,
): ActivityDeps {
  const { clock, tape, process, server, service, notices, info, token, hazard, pace } = parts;
  const clockOfProcess = {
    nowMs: () => process.wallMs(),
    after: (ms: number, act: () => void) => process.later(ms, act),
  };

  async function awaitedForMs({ taskToken }: { taskToken: Uint8Array }): Promise<number | null> {
    hazard('asks whether the POST is awaited');
    const task = taskOf(taskToken);
    const ms = await inTime(
      ask(() => server.activities.awaitedForMs(task)),
      TIMING.post.permitMs,
    );
    if (ms !== null) beatWhileAwaited(parts, ask, task, TIMING.post.heartbeatMs);
    return ms;
  }

  const inTime = <T>(answer: Promise<T>, withinMs: number): Promise<T> => {
    const late = process.sleep(withinMs).then(() => {
      throw ApplicationFailure.create({ message: 'Temporal did not answer in time' });
    });
    return Promise.race([answer, late]);
  };
  const client = createModelClient(server, ask, parts);
  const findFreezesInTime: FindFreezes = (ids, withinMs) => inTime(findFreezes(client, ids), withinMs);
  return {
    service: createHostingApiClient({
      ...HTTP_TIMEOUTS,
      baseUrl: 'http://service',
      token: () => Promise.resolve(token()),
      appPaths: { deploy: '/v1/apps/{id}/deploy', latest: '/v1/apps/{id}/deployments/latest' },
      pacer: pace.pacer,
      passage: pace.passage,
      send: pace.checked(
        createSend(clock, tape, process, service, hazard, () => onPost(taskOf(activityInfo().taskToken))),
      ),
    }),
    ...own,
    workerInfo: info,
    policy: fixedPolicy(parts.configuration),
    readSite: createSites(parts),
    getPage: createGetPage(parts),
    approvals: createApprovalJudge(fixedPolicy(parts.configuration), {
      readText: (path) => parts.readText(path),
      verifyToken: () => Promise.reject(new Error('the simulator has no GitHub')),
    }),
    freezes: createFreezeJudge(fixedPolicy(parts.configuration), findFreezesInTime),
    pool: {
      begun: () => Promise.resolve(),
      nowMs: () => clock.nowMs,
      sleepUntil: (atMs) => process.sleep(Math.max(0, atMs - clock.nowMs)).then(() => true),
    },
    clocks: { wallMs: () => process.wallMs(), monotonicMs: () => clock.nowMs },
    hasColleagues: () => ask(() => parts.hasColleagues()),
    awaitedForMs,
    startedBy: (activity) => inTime(startedBy(client, activity), TIMING.post.permitMs),
    lookupsAndSignals: lookupsAndSignals(client, DEFAULT_TASK_QUEUE, clockOfProcess),
    deliveries: createNotifier(notices, info.notify, process),
  };
}

/** Heartbeats without details, as long as the server waits for the activity. */
export function beatWhileAwaited(parts: WorkerParts, ask: Ask, task: ActivityTask, everyMs: number): void {
  const { process, server } = parts;
  process.later(everyMs, () => {
    if (!server.activities.isAwaited(task)) return;
    void ask(() => server.activities.heartbeat(task));
    beatWhileAwaited(parts, ask, task, everyMs);
  });
}
