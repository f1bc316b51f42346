import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MockActivityEnvironment } from '@temporalio/testing';
import { ApplicationFailure } from '@temporalio/common';
import { DefaultLogger } from '@temporalio/worker';
import { createActivities } from '../../src/activities/index.ts';
import { SERVICE_ONLY } from '../support/activity-deps.ts';
import { HostingApiError, type HostingApiErrorFacts } from '../../src/hosting-api/errors.ts';
import { appTarget, siteTarget } from '../../src/contract/target.ts';
import type { ReadAnswer } from '../../src/contract/activities.ts';
import type { HostingApiClient, TriggerOptions } from '../../src/hosting-api/client.ts';
import type { ActivityDeps } from '../../src/activities/deps.ts';

const SERVICE = 'https://service.example';

/**
 * @param aheadMs how far this machine's clock is ahead of Temporal's
 * @param nowMs by this machine's clock
 */
const environment = (aheadMs = 0, nowMs = Date.now()) =>
  new MockActivityEnvironment(
    { currentAttemptScheduledTimestampMs: nowMs - aheadMs },
    { logger: new DefaultLogger('ERROR', () => undefined) },
  );

/** Activities on a service that gives this answer to every request. */
function activitiesOn(
  answer: (subject: unknown, options?: TriggerOptions) => Promise<never>,
  more: Partial<ActivityDeps> = {},
) {
  const service: HostingApiClient = {
    deploysApps: false,
    readTime: () => Promise.resolve(null),
    triggerDeployment: answer,
    readLatestDeployment: answer,
    createBackup: answer,
    readBackup: answer,
  };
  const workerInfo = {
    service: SERVICE,
    formerly: [],
    epoch: '1',
    statuses: { deployment: {}, backup: {} },
    searchAttributes: false,
  };
  return createActivities({ service, workerInfo, ...SERVICE_ONLY, ...more });
}

/** The run id of the SDK's mock. */
const RUN_ID = '00000000-0000-0000-0000-000000000000';

const failing = (workerInfo: Partial<HostingApiErrorFacts>) =>
  activitiesOn(() =>
    Promise.reject(new HostingApiError({ kind: 'http', request: 'POST /x', reason: 'no', sent: true, ...workerInfo })),
  );

async function triggerFailureOf(
  activities: ReturnType<typeof createActivities>,
  aheadMs = 0,
  firstRunId = RUN_ID,
  more: { readAt?: string } = {},
  nowMs?: number,
): Promise<ApplicationFailure> {
  const input = { service: SERVICE, epoch: '1', idempotencyKey: 'k', firstRunId, target: siteTarget('a1'), ...more };
  return environment(aheadMs, nowMs)
    .run(activities.triggerDeployment, input)
    .then(
      () => assert.fail('the deployment was triggered'),
      (error: unknown) => {
        assert.ok(error instanceof ApplicationFailure && error.nonRetryable === true, String(error));
        return error;
      },
    );
}

const ENDS: [what: string, workerInfo: Partial<HostingApiErrorFacts>, type: string][] = [
  ['never connected', { kind: 'network', sent: false }, 'NotSent'],
  ['no token', { kind: 'token', sent: false }, 'NotSent'],
  ['its worker holding it back', { kind: 'held_back', sent: false }, 'HeldBack'],
  ['429', { httpStatus: 429 }, 'Throttled'],
  ['503 with Retry-After', { httpStatus: 503, retryAfterMs: 5_000 }, 'Throttled'],
  ['503 without Retry-After', { httpStatus: 503 }, 'Ambiguous'],
  ['409', { httpStatus: 409 }, 'Conflict'],
  ['423', { httpStatus: 423 }, 'Conflict'],
  ['400', { httpStatus: 400 }, 'Refused'],
  ['401', { httpStatus: 401 }, 'Refused'],
  ['404 with JSON', { httpStatus: 404, isJson: true }, 'Refused'],
  ['404 without JSON', { httpStatus: 404 }, 'Refused'],
  ['408', { httpStatus: 408 }, 'Ambiguous'],
  ['a redirect', { httpStatus: 302 }, 'Ambiguous'],
  ['500', { httpStatus: 500 }, 'Ambiguous'],
  ['a time-out', { kind: 'timeout' }, 'Ambiguous'],
  ['a broken connection', { kind: 'network' }, 'Ambiguous'],
  ['a malformed answer', { kind: 'protocol' }, 'Ambiguous'],
];
for (const [what, workerInfo, type] of ENDS) {
  test(`a trigger that ends with ${what} fails as ${type}`, async () => {
    assert.equal((await triggerFailureOf(failing(workerInfo))).type, type);
  });
}

test('the details of a trigger failure contain the status, the Retry-After and when Temporal learned of it', async () => {
  const service = failing({ httpStatus: 429, retryAfterMs: 2_000 });
  const scheduledAt = '2026-11-28T20:00:00.000Z';
  const failure = await triggerFailureOf(service, 0, RUN_ID, {}, Date.parse(scheduledAt));
  assert.deepEqual(failure.details, [{ httpStatus: 429, retryAfterMs: 2_000, scheduledAt }]);
});

test('an unexpected error is ambiguous', async () => {
  assert.equal((await triggerFailureOf(activitiesOn(() => Promise.reject(new TypeError('oops'))))).type, 'Ambiguous');
});

const HOUR_MS = 3_600_000;
test('a trigger is not sent if the last read was long before Temporal learned of it, whatever the clocks say', async () => {
  for (const aheadMs of [0, -HOUR_MS, HOUR_MS]) {
    const nowMs = Date.now();
    const readAt = new Date(nowMs - aheadMs - 30_000).toISOString();
    const { type, message } = await triggerFailureOf(failing({}), aheadMs, RUN_ID, { readAt }, nowMs);
    assert.deepEqual([type, /was last read 30s before/.test(message)], ['Stale', true]);
  }
});

for (const aheadMs of [-HOUR_MS, -10_000, 10_000, HOUR_MS]) {
  test(`a trigger is sent by a worker whose clock is ${aheadMs} ms ahead of Temporal's`, async () => {
    assert.equal((await triggerFailureOf(failing({ httpStatus: 500 }), aheadMs)).type, 'Ambiguous');
  });
}

test('a trigger that Temporal no longer waits for is not sent', async () => {
  const activities = activitiesOn(() => assert.fail('a request was sent'), {
    awaitedForMs: () => Promise.resolve(null),
  });
  const failure = await triggerFailureOf(activities);
  assert.equal(failure.type, 'NotSent');
  assert.match(failure.message, /no longer waits/);
});

test('a trigger is left to the next attempt if Temporal cannot be asked about it', async () => {
  const awaitedForMs = () => Promise.reject(new Error('14 UNAVAILABLE'));
  const failure = await triggerFailureOf(activitiesOn(() => assert.fail('a request was sent'), { awaitedForMs }));
  assert.equal(failure.type, 'Resting');
  assert.match(failure.message, /UNAVAILABLE/);
});

for (const [askedAfterMs, expectedMs] of [
  [2_900, 2_000],
  [3_500, 1_500],
  [4_999, 1],
] as const) {
  test(`a trigger may be sent for ${expectedMs} ms if Temporal was asked ${askedAfterMs} ms after its scheduling`, async () => {
    const leftMs: number[] = [];
    const activities = activitiesOn(
      (_id, { permit } = {}) => {
        leftMs.push(permit!.leftMs());
        return Promise.reject(new HostingApiError({ kind: 'http', request: 'POST /x', reason: 'no', sent: true }));
      },
      { awaitedForMs: () => Promise.resolve(askedAfterMs), clocks: { wallMs: () => 0, monotonicMs: () => 0 } },
    );
    await triggerFailureOf(activities);
    assert.deepEqual(leftMs, [expectedMs]);
  });
}

test('a trigger that is five seconds old when Temporal is asked is left to the next attempt', async () => {
  const awaitedForMs = () => Promise.resolve(5_000);
  const failure = await triggerFailureOf(activitiesOn(() => assert.fail('a request was sent'), { awaitedForMs }));
  assert.equal(failure.type, 'Resting');
  assert.match(failure.message, /5000 ms old/);
});

for (const [what, stopped] of [
  ['stopped', { wallMs: 2_001, monotonicMs: 2_001 }],
  ['suspended, which stops the monotonic clock,', { wallMs: 2_001, monotonicMs: 5 }],
  ['stopped while its wall clock was set back', { wallMs: -HOUR_MS, monotonicMs: 2_001 }],
] as const) {
  test(`the permit of a trigger is over if the worker was ${what} since it asked Temporal`, async () => {
    let passed = { wallMs: 0, monotonicMs: 0 };
    const clocks = { wallMs: () => passed.wallMs, monotonicMs: () => passed.monotonicMs };
    const leftMs: number[] = [];
    const activities = activitiesOn(
      (_id, { permit } = {}) => {
        leftMs.push(permit!.leftMs());
        passed = stopped;
        leftMs.push(permit!.leftMs());
        return Promise.reject(
          new HostingApiError({ kind: 'network', request: 'POST /x', reason: 'late', sent: false }),
        );
      },
      { clocks },
    );
    assert.equal((await triggerFailureOf(activities)).type, 'NotSent');
    assert.equal(leftMs[0], 2_000);
    assert.ok(leftMs[1]! <= 0);
  });
}

const UNAUTHORIZED = { kind: 'http', httpStatus: 401 } as const;

/** A rest that records what begins it. */
function restingWhen(isOver: boolean) {
  const begun: string[] = [];
  const begin = (reason: string) => void begun.push(reason);
  return { begun, rest: { reason: isOver ? null : '401', begin, isOver: () => Promise.resolve(isOver) } };
}

test('a resting worker leaves its triggers, and the reads of others, to others', async () => {
  const activities = activitiesOn(() => assert.fail('a request was sent'), restingWhen(false));
  assert.equal((await triggerFailureOf(activities)).type, 'Resting');
  const input = { service: SERVICE, backupId: 'b1', unlessResting: true } as const;
  await assert.rejects(environment().run(activities.readBackup, input), { type: 'Resting', nonRetryable: false });
});

test('a resting worker makes a read that it scheduled itself, which shows whether it can read again', async () => {
  const { rest, begun } = restingWhen(false);
  const refused = new HostingApiError({ ...UNAUTHORIZED, request: 'GET /x', reason: 'no', sent: true });
  const activities = activitiesOn(() => Promise.reject(refused), { rest });
  const read: ReadAnswer = await environment().run(activities.readBackup, { service: SERVICE, backupId: 'b1' });
  assert.deepEqual([!read.ok && read.ofThisWorker, begun.length], [true, 1]);
});

for (const [shown, read] of [
  [' Completed\n', 'Completed'],
  ['completed\u0000', 'completed\ufffd'],
  ['\u202ecompleted', '\ufffdcompleted'],
] as const) {
  test(`the status ${JSON.stringify(shown)} is read as ${JSON.stringify(read)}: only surrounding space is cut`, async () => {
    const activities = activitiesOn(() => Promise.resolve({ status: shown } as never));
    const answer: ReadAnswer = await environment().run(activities.readBackup, { service: SERVICE, backupId: 'b1' });
    assert.equal(answer.ok && answer.status, read);
  });
}

test('a read says when it was answered by the clock of Temporal, and sends no heartbeat if it was quick', async () => {
  const scheduledMs = 1_000_000;
  const place = new MockActivityEnvironment({ currentAttemptScheduledTimestampMs: scheduledMs });
  const beats: unknown[] = [];
  place.on('heartbeat', (details) => beats.push(details));
  let nowMs = 50;
  const clocks = { wallMs: () => 0, monotonicMs: () => (nowMs += 700) };
  const activities = activitiesOn(() => Promise.reject(new Error('no')), { clocks });
  const read: ReadAnswer = await place.run(activities.readBackup, { service: SERVICE, backupId: 'b1' });
  assert.deepEqual([read.answeredMs, beats.length], [scheduledMs + 700, 0]);
});

for (const [what, facts, rests] of [
  ['without a connection', { kind: 'network', sent: false }, true],
  ['without a connection in time', { kind: 'timeout', sent: false }, true],
  ['whose token cannot be read', { kind: 'token', sent: false }, true],
  ['answered 401', { httpStatus: 401 }, true],
  ['answered 403', { httpStatus: 403 }, true],
  ['answered 503', { httpStatus: 503 }, false],
  ['whose connection breaks', { kind: 'network' }, false],
] as const) {
  test(`a read ${what} ${rests ? 'lets its worker rest, and another one may do better' : 'says nothing about its worker'}`, async () => {
    const { rest, begun } = restingWhen(true);
    const answer = () =>
      Promise.reject(new HostingApiError({ kind: 'http', request: 'GET /x', reason: 'no', sent: true, ...facts }));
    const read: ReadAnswer = await environment().run(activitiesOn(answer, { rest }).readBackup, {
      service: SERVICE,
      backupId: 'b1',
    });
    assert.deepEqual([begun.length, !read.ok && read.ofThisWorker], rests ? [1, true] : [0, undefined]);
  });
}

test('a trigger that was refused to a worker is left to others, unless it is the only worker', async () => {
  for (const [others, second] of [
    [true, 'Resting'],
    [false, 'Refused'],
  ] as const) {
    const activities = activitiesOn(
      () => Promise.reject(new HostingApiError({ ...UNAUTHORIZED, request: 'POST /x', reason: 'no', sent: true })),
      { hasColleagues: () => Promise.resolve(others) },
    );
    assert.equal((await triggerFailureOf(activities)).type, 'Refused');
    assert.equal((await triggerFailureOf(activities)).type, second);
  }
});

test('an operation that was reset sends nothing', async () => {
  const activities = activitiesOn(() => assert.fail('a request was sent'));
  assert.equal((await triggerFailureOf(activities, 0, 'of the first execution')).type, 'Reset');
});

test('a worker for another service triggers nothing and reads nothing', async () => {
  const activities = activitiesOn(() => assert.fail('a request was sent'));
  const elsewhere = {
    service: 'https://other.example',
    epoch: '1',
    idempotencyKey: 'k',
    firstRunId: RUN_ID,
    target: siteTarget('a1'),
  };
  await assert.rejects(environment().run(activities.triggerDeployment, elsewhere), { type: 'NotSent' });
  const read: ReadAnswer = await environment().run(activities.readLatestDeployment, elsewhere);
  assert.ok(!read.ok && read.kind === 'other_service');
});

test('a worker without the paths of apps deploys and reads none', async () => {
  const activities = activitiesOn(() => assert.fail('a request was sent'));
  const input = { service: SERVICE, epoch: '1', idempotencyKey: 'k', firstRunId: RUN_ID, target: appTarget('b1') };
  await assert.rejects(environment().run(activities.triggerDeployment, input), {
    type: 'NotSent',
    message: /api\.app/,
  });
  const read: ReadAnswer = await environment().run(activities.readLatestDeployment, input);
  assert.ok(!read.ok && read.kind === 'other_service');
});

test('a failed read returns a value that describes the failure', async () => {
  const activities = failing({ httpStatus: 429, isJson: true, retryAfterMs: 9_000 });
  const input = { service: SERVICE, backupId: 'b1' };
  const { answeredMs, ...read }: ReadAnswer = await environment().run(activities.readBackup, input);
  assert.equal(typeof answeredMs, 'number');
  assert.deepEqual(read, {
    ok: false,
    kind: 'http',
    httpStatus: 429,
    isJson: true,
    retryAfterMs: 9_000,
    message: 'POST /x: no',
  });
});

test('a worker that holds its requests back does not rest, and answers a read itself', async () => {
  const heldBack = { kind: 'held_back', request: 'GET /x', reason: 'not sent', sent: false, retryAfterMs: 40 } as const;
  const begin = () => assert.fail('it rests');
  const rest = { ...SERVICE_ONLY.rest, begin };
  const activities = activitiesOn(() => Promise.reject(new HostingApiError(heldBack)), { rest });
  const input = { service: SERVICE, backupId: 'b1' };
  const read: ReadAnswer = await environment().run(activities.readBackup, input);
  assert.ok(!read.ok);
  assert.deepEqual([read.kind, read.retryAfterMs, read.ofThisWorker], ['held_back', 40, undefined]);
  assert.equal((await triggerFailureOf(activities)).type, 'HeldBack');
});
