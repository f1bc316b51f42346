import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MockActivityEnvironment } from '@temporalio/testing';
import { ApplicationFailure } from '@temporalio/common';
import { DefaultLogger } from '@temporalio/worker';
import type { ReadResult } from '../../../src/contract/run.ts';
import { createActivities } from '../../../src/activities/index.ts';
import { NOBODY_ELSE } from '../../support/activity-deps.ts';
import { createStatusWords } from '../../../src/activities/http/statuses.ts';
import { ServiceError, type ServiceClient } from '../../../src/hosting-api/index.ts';
import type { ServiceErrorFacts } from '../../../src/hosting-api/errors.ts';

const SERVICE = 'https://service.example';

/** Where an activity runs, scheduled so long ago. */
const environment = (scheduledMsAgo = 0) =>
  new MockActivityEnvironment(
    { currentAttemptScheduledTimestampMs: Date.now() - scheduledMsAgo },
    { logger: new DefaultLogger('ERROR', () => undefined) },
  );

/** Activities on a service whose every answer is this. */
function activitiesOn(answer: () => Promise<never>) {
  const service: ServiceClient = {
    origin: SERVICE,
    triggerDeployment: answer,
    readLatestDeployment: answer,
    createBackup: answer,
    readBackup: answer,
  };
  const facts = { service: SERVICE, searchAttributes: false };
  return createActivities({ service, statuses: createStatusWords(), facts, ...NOBODY_ELSE });
}

/** That of the SDK's mock. */
const RUN_ID = '00000000-0000-0000-0000-000000000000';

const failing = (facts: Partial<ServiceErrorFacts>) =>
  activitiesOn(() =>
    Promise.reject(new ServiceError({ kind: 'http', request: 'POST /x', reason: 'no', sent: true, ...facts })),
  );

async function triggerFailureOf(
  activities: ReturnType<typeof createActivities>,
  scheduledMsAgo = 0,
  firstRunId = RUN_ID,
): Promise<ApplicationFailure> {
  const input = { service: SERVICE, idempotencyKey: 'k', firstRunId, siteId: 'a1' };
  return environment(scheduledMsAgo)
    .run(activities.triggerDeployment, input)
    .then(
      () => assert.fail('it was triggered'),
      (error: unknown) => {
        assert.ok(error instanceof ApplicationFailure && error.nonRetryable === true, String(error));
        return error;
      },
    );
}

const ENDS: [what: string, facts: Partial<ServiceErrorFacts>, type: string][] = [
  ['never connected', { kind: 'network', sent: false }, 'NotSent'],
  ['no token', { kind: 'token', sent: false }, 'NotSent'],
  ['429', { httpStatus: 429 }, 'Throttled'],
  ['503 with Retry-After', { httpStatus: 503, retryAfterMs: 5_000 }, 'Throttled'],
  ['503 without Retry-After', { httpStatus: 503 }, 'Ambiguous'],
  ['409', { httpStatus: 409 }, 'Conflict'],
  ['423', { httpStatus: 423 }, 'Conflict'],
  ['400', { httpStatus: 400 }, 'Refused'],
  ['401', { httpStatus: 401 }, 'Refused'],
  ['404', { httpStatus: 404 }, 'Refused'],
  ['408', { httpStatus: 408 }, 'Ambiguous'],
  ['a redirect', { httpStatus: 302 }, 'Ambiguous'],
  ['500', { httpStatus: 500 }, 'Ambiguous'],
  ['a time-out', { kind: 'timeout' }, 'Ambiguous'],
  ['a broken connection', { kind: 'network' }, 'Ambiguous'],
  ['rubbish', { kind: 'protocol' }, 'Ambiguous'],
];
for (const [what, facts, type] of ENDS) {
  test(`a trigger that ends with ${what} fails as ${type}`, async () => {
    assert.equal((await triggerFailureOf(failing(facts))).type, type);
  });
}

test('the details of a trigger failure tell the status and the Retry-After', async () => {
  const failure = await triggerFailureOf(failing({ httpStatus: 429, retryAfterMs: 2_000 }));
  assert.deepEqual(failure.details, [{ httpStatus: 429, retryAfterMs: 2_000 }]);
});

test('an error nobody expected is ambiguous', async () => {
  assert.equal((await triggerFailureOf(activitiesOn(() => Promise.reject(new TypeError('oops'))))).type, 'Ambiguous');
});

test('a trigger scheduled more than three seconds ago is not sent', async () => {
  let sent = false;
  const activities = activitiesOn(() => {
    sent = true;
    return Promise.reject(new Error('sent'));
  });
  const failure = await triggerFailureOf(activities, 3_500);
  assert.equal(failure.type, 'NotSent');
  assert.match(failure.message, /stalled|clock/);
  assert.equal(sent, false);
});

test('an operation that was reset sends nothing', async () => {
  const activities = activitiesOn(() => assert.fail('it was sent'));
  assert.equal((await triggerFailureOf(activities, 0, 'of the first execution')).type, 'Reset');
});

test('a worker for another service triggers nothing and reads nothing', async () => {
  const activities = activitiesOn(() => assert.fail('it asked the service'));
  const elsewhere = { service: 'https://other.example', idempotencyKey: 'k', firstRunId: RUN_ID, siteId: 'a1' };
  await assert.rejects(environment().run(activities.triggerDeployment, elsewhere), { type: 'NotSent' });
  const read: ReadResult = await environment().run(activities.readLatestDeployment, elsewhere);
  assert.ok(!read.ok && read.kind === 'other_service');
});

test('a failed read is a value with what is known of the failure', async () => {
  const read = await environment().run(failing({ httpStatus: 429, retryAfterMs: 9_000 }).readBackup, {
    service: SERVICE,
    backupId: 'b1',
  });
  assert.deepEqual(read, { ok: false, kind: 'http', httpStatus: 429, retryAfterMs: 9_000, message: 'POST /x: no' });
});

test('completed and failed are final, trimmed and case-blind; every other word is in progress', () => {
  const { deployment } = createStatusWords();
  assert.equal(deployment(' Completed '), 'completed');
  assert.equal(deployment('FAILED'), 'failed');
  for (const word of ['building', 'cancelled', 'complete', 'success', ''])
    assert.equal(deployment(word), 'in_progress');
});

test('more words can be final, each for its kind', () => {
  const { deployment, backup } = createStatusWords({ deployment: { ' Cancelled': 'failed' } });
  assert.deepEqual([deployment('CANCELLED '), backup('cancelled')], ['failed', 'in_progress']);
  assert.equal(createStatusWords({ deployment: { completed: 'failed' } }).deployment('completed'), 'completed');
});
