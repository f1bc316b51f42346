/** What the activities of a worker reach: the service and the server, both over networks of the simulator. */
import type { ActivityDeps } from '../../../src/activities/deps.ts';
import { TIMING } from '../../../src/contract/timing.ts';
import { createHostingApiClient } from '../../../src/hosting-api/index.ts';
import { HTTP_TIMEOUTS } from '../../../src/worker/settings.ts';
import type { ActivityTask } from '../temporal/activities.ts';
import type { Ask, WorkerParts } from './parts.ts';
import { createSend } from './wire.ts';

/** @param onPost called with the idempotency key of each request that leaves */
export function createDeps(
  parts: WorkerParts,
  rest: ActivityDeps['rest'],
  ask: Ask,
  taskOf: (token: Uint8Array) => ActivityTask,
  onPost: (idempotencyKey: string) => void,
): ActivityDeps {
  const { clock, tape, process, server, service, info, lookups, token, hazard } = parts;
  const looked =
    <Q, A>(look: (query: Q) => A) =>
    (query: Q) =>
      ask(() => look(query));

  async function isAwaited(taskToken: Uint8Array): Promise<boolean> {
    hazard('asks whether the POST is awaited');
    const answer = ask(() => server.activities.isAwaited(taskOf(taskToken)));
    const late = process.sleep(TIMING.post.permitMs).then(() => {
      throw new Error('Temporal did not answer in time');
    });
    return Promise.race([answer, late]);
  }

  return {
    service: createHostingApiClient({
      ...HTTP_TIMEOUTS,
      baseUrl: 'http://service',
      token: () => Promise.resolve(token()),
      appPaths: { deploy: '/v1/apps/{id}/deploy', latest: '/v1/apps/{id}/deployments/latest' },
      send: createSend(clock, tape, process, service, hazard, onPost),
    }),
    rest,
    workerInfo: info,
    clocks: { wallMs: () => process.wallMs(), monotonicMs: () => clock.nowMs },
    hasColleagues: () => ask(() => parts.hasColleagues()),
    isAwaited,
    findCompletedBackup: looked(lookups.findCompletedBackup),
    findBackupRecord: looked(lookups.findBackupRecord),
    findLockHolder: looked(lookups.findLockHolder),
    findSharedBackup: looked(lookups.findSharedBackup),
    findServersOfBackup: looked(lookups.findServersOfBackup),
    wakeWaiters: looked(lookups.wakeWaiters),
    holdServer: looked(lookups.holdServer),
    sendNotification: () => Promise.resolve(true),
    callHeartbeat: () => Promise.resolve(true),
  };
}
