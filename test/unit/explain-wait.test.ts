import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nameOfPartInFlight, rolloutSentence, waitingSentence } from '../../src/contract/explain-wait.ts';
import { emptyDeployment, emptyResult } from '../../src/contract/results.ts';
import type { RolloutWaiting, Waiting } from '../../src/contract/waiting.ts';

const baseline = (lastStatus: string | null): Waiting => ({
  ...{ kind: 'baseline', try: 1, tries: 30, lastStatus, lastReadAt: null },
  nextReadAt: '2026-03-02T08:00:10Z',
});

test('before the request, a deployment waits for another one only if the service shows one', () => {
  assert.equal(
    waitingSentence(baseline(null), 'deployment of a1'),
    'deployment of a1, reading the status before the request: try 1 of 30, no status yet, next read at 2026-03-02T08:00:10Z',
  );
  assert.equal(
    waitingSentence(baseline('building'), 'deployment of a1'),
    'deployment of a1, waiting for another deployment to finish: try 1 of 30, last status "building", ' +
      'next read at 2026-03-02T08:00:10Z',
  );
});

test('an operation whose request was not accepted says how it ended, and when it is sent again', () => {
  const waiting: Waiting = { kind: 'request', reason: 'POST /: 409', nextAt: '2026-03-02T08:00:10Z' };
  assert.equal(
    waitingSentence(waiting, 'deployment of a1'),
    'deployment of a1: the request is sent again at 2026-03-02T08:00:10Z; the last one ended with "POST /: 409"',
  );
  assert.equal(
    waitingSentence(waiting, null, { quote: (text) => text, when: null }),
    'the request is sent again; the last one ended with POST /: 409',
  );
});

test('a run that is still being checked works on none of its deployments', () => {
  const result = emptyResult({ deployments: [emptyDeployment({ kind: 'site', id: 'a1' })] });
  const during = (phase: typeof result.phase) => nameOfPartInFlight({ ...result, phase });
  assert.deepEqual([null, 'checking' as const, 'deploy' as const].map(during), [null, null, 'deployment of a1']);
});

test('what a newer worker waits for is named, though this version does not know it', () => {
  const unknown = { kind: 'quota', until: '2026-03-02T08:00:10Z' };
  assert.equal(
    waitingSentence(unknown as unknown as Waiting, 'deployment of a1'),
    'deployment of a1: waiting for "quota", which this version of Belay does not know',
  );
  assert.equal(
    rolloutSentence(unknown as unknown as RolloutWaiting, 'rollout:r:k'),
    'waiting for "quota", which this version of Belay does not know',
  );
});

test('a rollout that its own limit paused names no author, and one that a person paused does', () => {
  const paused = {
    kind: 'decision',
    by: 'maxFailures',
    reason: 'too many servers are not completed',
  } as RolloutWaiting;
  const rest = 'because "too many servers are not completed": resume or abort it';
  assert.equal(rolloutSentence(paused, null), `paused ${rest}`);
  assert.equal(rolloutSentence({ ...paused, by: 'anne' } as RolloutWaiting, null), `paused by "anne" ${rest}`);
});

test('a paused rollout with an id gives the command that resumes it, ready to be pasted', () => {
  const paused = { kind: 'decision', by: 'anne', reason: 'slow', since: '' } as const;
  const resumed = (id: string, held: string[] = []) => rolloutSentence({ ...paused, held }, id).split('"slow": ')[1];
  assert.equal(resumed('rollout:r:k'), 'resume it with `belay rollout resume rollout:r:k --reason TEXT`, or abort it');
  assert.match(resumed('rollout:r:a b') ?? '', /`belay rollout resume 'rollout:r:a b' --reason TEXT`/);
  assert.match(
    resumed('rollout:r:k', ['13']) ?? '',
    /^release it with `belay rollout resume rollout:r:k --server 13 --reason TEXT`, continue without it with `/,
  );
});

test('a rollout that is paused for held servers says how to release one, and what a plain resume does', () => {
  const paused = { kind: 'decision', by: 'event:e1', reason: 'server 13 of wave half is held', since: '' } as const;
  const remedyFor = (held: string[]) => rolloutSentence({ ...paused, held }, null).split('is held": ')[1];
  assert.equal(
    remedyFor(['13']),
    'release it with `resume --server 13`, continue without it with `resume`, or abort the rollout',
  );
  assert.equal(
    remedyFor(['13', '14']),
    'release them with `resume --server 13 --server 14`, continue without them with `resume`, or abort the rollout',
  );
});
