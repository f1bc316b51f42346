/** What is said of a rollout that does not answer yet. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QueryNotRegisteredError } from '@temporalio/client';
import { TypedSearchAttributes } from '@temporalio/common';
import type { Session } from '../../src/client/session.ts';
import { ROLLOUT_TYPE } from '../../src/contract/names.ts';
import { TIMING } from '../../src/contract/timing.ts';
import { headLine } from '../../src/features/rollouts/actions-show.ts';
import { rolloutStatus } from '../../src/features/rollouts/client-handle.ts';
import { inFlightTable, rolloutNow } from '../../src/features/overview/show-in-flight.ts';
import { ATTRIBUTE_KEYS } from '../../src/request/search-attributes.ts';
import type { InFlight } from '../../src/starter.ts';

interface Given {
  historyLength: number;
  raw: object;
  ageMs?: number;
  phase?: string;
  failure?: Error;
}

async function statusOf({ historyLength, raw, ageMs = 1_000, phase, failure = new Error('deadline') }: Given) {
  const ids = { workflowId: 'rollout:steady:k', runId: 'r1', type: ROLLOUT_TYPE };
  const startTime = new Date(Date.now() - ageMs);
  const pairs = phase === undefined ? [] : [{ key: ATTRIBUTE_KEYS.phase, value: phase }];
  const typedSearchAttributes = new TypedSearchAttributes(pairs);
  const described = {
    ...ids,
    typedSearchAttributes,
    status: { name: 'RUNNING' },
    memo: {},
    startTime,
    historyLength,
    raw,
  };
  const handle = { describe: () => Promise.resolve(described), query: () => Promise.reject(failure) };
  const client = { workflow: { getHandle: () => handle }, withDeadline: <T>(_: unknown, call: () => T) => call() };
  const session = { client, namespace: 'default', uiUrl: null, workers: () => Promise.resolve({ pollers: [] }) };
  const status = await rolloutStatus(session as unknown as Session, handle as never);
  const it: InFlight = { workflowId: ids.workflowId, askedAt: '', needsAttention: true, kind: 'rollout', status };
  const [, row] = inFlightTable({ inFlight: [it] }, Date.now(), Infinity);
  const [, , shownPhase] = (typeof row === 'string' ? row : (row?.text ?? '')).split(/ {2,}/);
  return { contact: status.contact, phase: shownPhase, head: headLine(status), now: rolloutNow(status) };
}

const starting = (contact: string) => ({ contact, phase: 'starting', head: 'starting', now: 'starting' });
const SILENT = 'no worker answers for the rollout: it continues when a worker is available again';

test('a rollout whose first workflow task is not done yet is starting, and a worker has to do it soon', async () => {
  const first = { historyLength: 3, raw: { pendingWorkflowTask: { attempt: 1 } } };
  assert.deepEqual(await statusOf(first), starting('answers'));
  assert.deepEqual(await statusOf({ historyLength: 2, raw: {} }), starting('not_begun'));
  const late = await statusOf({ ...first, ageMs: TIMING.cli.beginsWithinMs + 1_000 });
  assert.deepEqual(late, { contact: 'silent', phase: '–', head: SILENT, now: SILENT });
});

test('a rollout whose request is still being checked is starting, however long that takes', async () => {
  const failure = new QueryNotRegisteredError('Workflow did not register a handler for progress', 3);
  const raw = { pendingActivities: [{ activityType: { name: 'checkWorker' } }] };
  assert.deepEqual(await statusOf({ historyLength: 5, raw }), starting('answers'));
  const late = { historyLength: 5, raw, ageMs: 60_000 };
  assert.deepEqual(await statusOf({ ...late, failure }), starting('answers'));
  assert.equal((await statusOf(late)).contact, 'silent');
});

test('a rollout that has begun and that no worker answers for is silent, and has the phase that Temporal lists', async () => {
  const silent = { contact: 'silent', head: SILENT, now: SILENT };
  assert.deepEqual(await statusOf({ historyLength: 40, raw: {} }), { ...silent, phase: '–' });
  const running = { historyLength: 40, raw: {}, phase: 'running' };
  assert.deepEqual(await statusOf(running), { ...silent, phase: 'running' });
});
