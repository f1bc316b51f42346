import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byUrgency, holdsForMs, isOverdue, needsAttention, type Seen } from '../../src/features/overview/client.ts';
import type { Contact } from '../../src/client/runs/run-contact.ts';
import type { RunStatus } from '../../src/client/runs/run-status.ts';
import { emptyResult, emptyRollout } from '../../src/contract/results.ts';
import type { Phase } from '../../src/contract/names.ts';
import { TIMING } from '../../src/contract/timing.ts';
import type { Waiting, WaitingForApproval, WaitingForRead } from '../../src/contract/waiting.ts';

const NOW = '2026-03-02T08:00:00.000Z';
const nowMs = Date.parse(NOW);
const { leastPauseMs } = TIMING.overview;
const { maxAgeMs, silentMs } = TIMING.progress;
const at = (ms: number) => new Date(nowMs + ms).toISOString();

const readAt = (nextReadAt: string): Waiting => ({
  ...{ kind: 'deployment', try: 1, tries: 30, lastStatus: null, lastReadAt: null, nextReadAt },
});

interface Facts {
  contact?: Contact;
  waiting?: Waiting | null;
  phase?: Phase;
  startedAt?: string;
}

function run({ contact = 'answers', waiting = null, phase = 'deploy', startedAt = NOW }: Facts) {
  const status: RunStatus = { result: emptyResult({ phase, startedAt }), waiting, contact };
  return { kind: 'run', status } as const;
}

function rollout(waiting: 'decision' | null, startedAt = NOW): Seen {
  const decision = { kind: 'decision', by: 'anne', reason: 'slow', since: NOW } as const;
  const result = emptyRollout({ phase: 'running', startedAt });
  return { kind: 'rollout', status: { result, waiting: waiting === null ? null : decision, contact: 'answers' } };
}

const LOCK: Waiting = { kind: 'lock', lockId: 'deploy-site:a1', since: NOW };

test('a run needs attention if no worker continues it, or if its service is down', () => {
  const needs = (facts: Facts) => needsAttention(run(facts), nowMs);
  assert.deepEqual(
    (['silent', 'stuck', 'unserved', 'answers', 'closed'] as const).map((contact) => needs({ contact })),
    [true, true, true, false, false],
  );
  assert.ok(needs({ phase: 'parked' }));
  assert.ok(!needs({ waiting: LOCK, phase: 'queued' }));
  const failing = (reads: number): Waiting => ({
    ...(readAt(NOW) as WaitingForRead),
    failing: { reads, reason: '500' },
  });
  assert.deepEqual(
    [1, 2, 3].map((reads) => needs({ waiting: failing(reads) })),
    [false, false, true],
  );
  const begins = TIMING.cli.beginsWithinMs;
  assert.ok(!needs({ contact: 'not_begun', startedAt: at(1 - begins) }));
  assert.ok(needs({ contact: 'not_begun', startedAt: at(-begins) }));
});

test('what waits for an approval needs attention', () => {
  const waiting: WaitingForApproval = {
    ...{ kind: 'approval', workflowId: 'rollout:steady:k', plan: 'ab12', asked: [], since: NOW, until: NOW },
  };
  assert.ok(needsAttention(run({ waiting, phase: 'approval' }), nowMs));
  assert.ok(
    needsAttention({ kind: 'rollout', status: { result: emptyRollout(), waiting, contact: 'answers' } }, nowMs),
  );
});

test('a rollout needs attention while it waits for a decision', () => {
  assert.ok(needsAttention(rollout('decision'), nowMs));
  assert.ok(!needsAttention(rollout(null), nowMs));
});

test('what needs attention comes first, then rollouts, then runs, each with the newest first', () => {
  const listed = [
    { name: 'old run', ...run({ startedAt: at(-9_000) }), needsAttention: false },
    { name: 'old rollout', ...rollout(null, at(-60_000)), needsAttention: false },
    { name: 'old problem', ...run({ startedAt: at(-90_000) }), needsAttention: true },
    { name: 'new run', ...run({ startedAt: at(-1_000) }), needsAttention: false },
    { name: 'new problem', ...rollout('decision', at(-70_000)), needsAttention: true },
  ].map((it) => ({ ...it, workflowId: it.name, askedAt: null }));
  assert.deepEqual(
    listed.sort(byUrgency).map(({ name }) => name),
    ['new problem', 'old problem', 'old rollout', 'new run', 'old run'],
  );
});

test('a run that waits for a read is asked about again after the read, and one that only a query explains rarely', () => {
  const holds = (facts: Facts) => holdsForMs(run(facts), nowMs);
  assert.equal(holds({ waiting: readAt(at(4_000)) }), 4_000 + TIMING.progress.readMs);
  assert.equal(holds({ waiting: readAt(at(-60_000)) }), leastPauseMs);
  assert.equal(holds({ waiting: readAt(at(600_000)) }), maxAgeMs);
  assert.deepEqual(
    [LOCK, null].map((waiting) => holds({ waiting })),
    [maxAgeMs, leastPauseMs],
  );
  assert.equal(holds({ contact: 'unserved', waiting: readAt(NOW) }), maxAgeMs);
  assert.equal(holdsForMs(rollout(null), nowMs), maxAgeMs);
});

test('a read is overdue once a worker would have made it', () => {
  const overdue = (waiting: Waiting | null) => isOverdue(run({ waiting }).status, nowMs);
  assert.deepEqual([readAt(at(-silentMs)), readAt(at(-silentMs - 1)), LOCK, null].map(overdue), [
    false,
    true,
    false,
    false,
  ]);
});
