import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TIMING } from '../../src/contract/timing.ts';

const { client, credentials, event, lock, lookup, notify, pace, poll, pool, post, read, verdict, worker } = TIMING;

test('an activity outlives the request it makes', () => {
  assert.ok(read.activityMs > read.answerMs);
  assert.ok(read.heartbeatTimeoutMs > 2 * read.heartbeatMs);
  assert.ok(post.activityMs > post.permitMs + post.answerMs);
  assert.equal(post.underWayMs, post.takenWithinMs + post.activityMs);
  assert.ok(post.heartbeatTimeoutMs > 4 * post.heartbeatMs);
});

test('no POST is sent after Temporal gave up on it', () => {
  // The question counts as a heartbeat, and without it the activity ends one heartbeat timeout after its start.
  assert.ok(post.permitMs < post.heartbeatTimeoutMs);
  assert.ok(post.heartbeatTimeoutMs + post.permitMs < post.activityMs);
});

test('a POST taken in time has its whole permit, and has ended before another one may follow', () => {
  assert.ok(post.sentWithinMs >= post.takenWithinMs + post.permitMs);
  assert.ok(post.sentWithinMs + post.answerMs < post.underWayMs);
});

test('a permit that waits until a changed belay.yaml has settled leaves most of its time to the request', () => {
  assert.ok(worker.policySettleMs <= post.permitMs / 4);
});

test('a pooled wait reports in time that it goes on', () => {
  assert.ok(pool.heartbeatMs < pool.heartbeatTimeoutMs);
});

test('a stopping worker lets a POST in progress finish and record its answer', () => {
  assert.ok(worker.shutdownGraceMs > post.answerMs + post.spareMs);
});

test('a stopping worker gives up only on an activity that has outlived its own limits', () => {
  assert.ok(worker.shutdownForceMs > worker.shutdownGraceMs + Math.max(read.activityMs, notify.attemptMs));
});

test('a trace read on time counts as watched', () => {
  assert.ok(Math.max(...poll.earlyReadsMs) < verdict.coverageSlackMs + post.takenWithinMs);
  assert.ok(verdict.minSettleMs > verdict.coverageSlackMs);
});

test('waiting for a lock costs at most 120 actions an hour, and a terminated holder is noticed within 75 s', () => {
  const look = ['timer', 'lookup'];
  assert.ok((look.length * 3_600_000) / lock.lookAgainMs <= 120);
  assert.ok(lock.lookAgainMs + lookup.optionalMs + 10 * lock.startAgainMs + worker.workflowTaskMs < 75_000);
});

test('a replaced token gets several reads within its time limit, and at least two within the minimum total time', () => {
  assert.ok(poll.unauthorizedPatienceMs >= 4 * poll.unauthorizedPauseMs);
  assert.ok(poll.minWholeMs >= 2 * poll.unauthorizedPauseMs);
});

test('the last look for the server of a backup comes when the POST that made it has been answered', () => {
  const [first, second, third] = event.findServersAfterMs;
  assert.equal(third / second, second / first, 'not what a backoff coefficient yields');
  assert.ok(first + second + third > post.underWayMs);
  assert.ok(first + second + third + TIMING.lookup.regularMs < event.findServersWithinMs);
});

test('a channel that is down for a day gets few requests for each message', () => {
  let [requests, atMs, pauseMs] = [1, 0, notify.retryMs];
  for (; atMs + pauseMs < notify.giveUpAfterMs; requests += 1) {
    atMs += pauseMs;
    pauseMs = Math.min(2 * pauseMs, notify.maxRetryMs);
  }
  assert.ok(requests < 60, `${requests} requests`);
});

test('an event outlives its notifications', () => {
  assert.ok(event.giveUpAfterMs > notify.giveUpAfterMs + event.freshForMs);
});

test('a command without Temporal or a worker ends within ten seconds', () => {
  assert.ok(client.connectMs + client.startMs < 10_000);
});

test('one answer cannot hold a worker back longer than the default budget of an operation', () => {
  assert.ok(pace.defaultPauseMs + pace.spreadMs < pace.maxPauseMs);
  assert.ok(pace.maxPauseMs <= 300_000);
});

test('a new worker has its share of the ceiling before an old one is forgotten', () => {
  assert.ok(pace.countWorkersMs < worker.seenWithinMs);
});

test('the connection before a change of credentials outlives every call that began on it', () => {
  const longest = Math.max(client.longPollMs, client.listMs, client.scheduleMs, client.startMs, client.answerMs);
  assert.ok(credentials.lingerMs > longest);
});
