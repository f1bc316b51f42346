import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as proxies from '../../src/workflows/activity-proxies.ts';

/** How Temporal gives an activity to a worker. Eager: first to the one that scheduled it. */
type Dispatch = 'any worker' | 'eager';

interface Scheduled {
  options: { allowEagerDispatch?: boolean };
}

/**
 * The SDK passes what a workflow schedules to interceptors, and finds them in this variable. If another version does not,
 * the calls throw.
 */
function dispatchOf(call: (...args: unknown[]) => unknown): Dispatch | undefined {
  let found: Dispatch | undefined;
  const scheduled = (dispatch: Dispatch) => {
    found ??= dispatch;
    return Promise.resolve();
  };
  const interceptor = {
    scheduleActivity: ({ options }: Scheduled) =>
      scheduled(options.allowEagerDispatch === false ? 'any worker' : 'eager'),
  };
  const activator = {
    nextSeqs: { activity: 1 },
    interceptors: { outbound: [interceptor] },
    bindCurrentRandom: (next: unknown) => next,
  };
  const context = globalThis as { __TEMPORAL_ACTIVATOR__?: unknown };
  context.__TEMPORAL_ACTIVATOR__ = activator;
  try {
    void call('belay', 1_000);
  } finally {
    delete context.__TEMPORAL_ACTIVATOR__;
  }
  return found;
}

test('an activity that may be meant for another worker never goes back to the one that scheduled it', () => {
  const dispatches = Object.entries(proxies).map(([name, proxy]) => {
    // Some are one activity, the others make an activity of any name.
    const call = (typeof proxy === 'function' ? proxy : Reflect.get(proxy, 'any')) as (...args: unknown[]) => unknown;
    return [name, dispatchOf(call)];
  });
  assert.deepEqual(Object.fromEntries(dispatches), {
    describeAnyWorker: 'any worker',
    waitForAdmission: 'any worker',
    pollInPool: 'any worker',
    checkSite: 'any worker',
    readElsewhere: 'any worker',
    triggerOnce: 'any worker',
    resolveDeadline: 'any worker',
    resolveSlot: 'any worker',
    notificationDelivery: 'any worker',
    sendReport: 'any worker',
    signalOlderRuns: 'any worker',
    measureGate: 'any worker',
    // This worker makes the first attempt, and any worker the next one.
    describeWorker: 'eager',
    readOnce: 'eager',
    judgeFreezes: 'eager',
    confirmFreeze: 'eager',
    checkApproval: 'eager',
    // These ask only Temporal, which is the same for every worker.
    askOperation: 'eager',
    findLockHolder: 'eager',
    findEndOfRun: 'eager',
    findBackupRecord: 'eager',
    findCompletedBackup: 'eager',
    findSharedBackup: 'eager',
    findServersOfBackup: 'eager',
    writeBackupRecord: 'eager',
    signalWaiters: 'eager',
    signalRollouts: 'eager',
  } satisfies Record<keyof typeof proxies, Dispatch>);
});
