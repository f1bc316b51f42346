/** What the board remembers from kept receipts. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { TypedSearchAttributes } from '@temporalio/common';
import type { Session } from '../../src/client/session.ts';
import type { Outcome } from '../../src/contract/names.ts';
import type { RunInput, RunResult } from '../../src/contract/run.ts';
import { emptyDeployment, emptyResult } from '../../src/contract/results.ts';
import type { Receipt } from '../../src/features/receipts/shapes.ts';
import { appTarget, siteTarget } from '../../src/contract/target.ts';
import { createPast, type Past } from '../../src/features/board/past.ts';
import { boardStatusOf } from '../../src/features/board/status.ts';
import { ATTRIBUTE_KEYS } from '../../src/request/search-attributes.ts';
import { receiptOfRun } from '../../src/features/receipts/entries.ts';
import { tempFolder } from '../support/temporal.ts';

/** Receipts ask Temporal for nothing. */
const session = { uiUrl: 'https://ui.example', namespace: 'default' } as unknown as Session;

function receipt(runId: string, endedAt: string, outcome: 'completed' | 'failed' = 'completed'): Receipt {
  const ids = { workflowId: `deploy:a1:${runId}`, runId };
  const times = { startedAt: '2026-01-01T02:00:00.000Z', endedAt };
  const deployments = [siteTarget('a1'), appTarget('b1')].map((target) => ({
    ...emptyDeployment(target),
    ...{ outcome, evidence: 'changed' as const, ...times },
  }));
  const result = emptyResult({ ...ids, outcome, deployments, commit: '4f2c9e1', ...times });
  const known = { namespace: 'default', type: 'deployOnly', input: { siteIds: ['a1'] }, result };
  return receiptOfRun(ids, { ...known, answered: [], operations: [] });
}

test('verdicts of kept receipts are known, the newest first, and those that were changed are not believed', async () => {
  const folder = await tempFolder();
  const keep = (name: string, content: unknown) => writeFileSync(join(folder, name), JSON.stringify(content));
  keep('1.json', receipt('r1', '2026-01-01T02:01:00.000Z'));
  keep('2.json', receipt('r2', '2026-01-02T02:01:00.000Z', 'failed'));
  const changed = receipt('r3', '2026-01-03T02:01:00.000Z', 'failed');
  changed.entries.at(-1)!.facts.outcome = 'completed';
  keep('3.json', changed);
  keep('4.json', { no: 'receipt' });
  writeFileSync(join(folder, '5.json'), 'no JSON');
  writeFileSync(join(folder, 'README'), 'kept here');
  const past = createPast(session);
  await past.readReceipts(folder);
  await past.readReceipts(folder);
  assert.deepEqual(past.subjects(), [siteTarget('a1'), appTarget('b1')]);
  const [last, before, ...more] = past.of(siteTarget('a1'));
  assert.deepEqual(
    [last?.runId, last?.outcome, before?.runId, before?.outcome, more],
    ['r2', 'failed', 'r1', 'completed', []],
  );
  assert.deepEqual(
    [before?.evidence, before?.durationMs, before?.commit, before?.endedAt],
    ['changed', 60_000, '4f2c9e1', '2026-01-01T02:01:00.000Z'],
  );
  assert.match(before?.ui ?? '', /^https:\/\/ui\.example\/namespaces\/default\/workflows\/deploy%3Aa1%3Ar1\/r1\//);
  keep('6.json', receipt('r6', '2026-01-06T02:01:00.000Z'));
  await past.readReceipts(folder);
  assert.equal(past.of(siteTarget('a1'))[0]?.runId, 'r6');
});

test('thirty runs of a target are remembered', async () => {
  const folder = await tempFolder();
  for (let day = 1; day <= 31; day += 1) {
    const date = String(day).padStart(2, '0');
    writeFileSync(join(folder, `${day}.json`), JSON.stringify(receipt(`r${day}`, `2026-01-${date}T02:01:00.000Z`)));
  }
  const past = createPast(session);
  await past.readReceipts(folder);
  const kept = past.of(siteTarget('a1'));
  assert.deepEqual([kept.length, kept[0]?.runId, kept.at(-1)?.runId], [30, 'r31', 'r2']);
});

/** A run that Temporal lists as closed, and its result as soon as it is read. */
function closedRun(
  input: RunInput,
  result: Partial<RunResult>,
  read: () => Promise<RunResult> = () => Promise.resolve(emptyResult(result)),
) {
  const nowMs = Date.now();
  const info = {
    ...{ workflowId: 'deploy:36', runId: 'r1', type: 'deployOnly', status: { name: 'FAILED' }, memo: { input } },
    ...{ startTime: new Date(nowMs - 120_000), closeTime: new Date(nowMs - 60_000) },
    typedSearchAttributes: new TypedSearchAttributes([
      { key: ATTRIBUTE_KEYS.outcome, value: result.outcome ?? 'failed' },
    ]),
  };
  const workflow = {
    async *list() {
      yield info;
    },
    getHandle: () => ({ result: read }),
  };
  const withDeadline = <T>(_: unknown, call: () => T) => call();
  return createPast({ ...session, taskQueue: 'belay', client: { workflow, withDeadline } } as unknown as Session);
}

const shown = (past: Past) =>
  boardStatusOf(
    {
      ...{ targets: [], inFlight: [], past, readings: null, freezes: [], schedules: [] },
      ...{ workers: null, problems: [], readAt: null },
    },
    Date.now(),
  );

test('until its result is read, a run that was not completed says nothing of each of its targets', async () => {
  const [startedAt, endedAt] = ['2026-01-01T02:00:00.000Z', '2026-01-01T02:00:20.000Z'];
  const part = (id: string, outcome: 'failed' | 'completed') =>
    ({ ...emptyDeployment(siteTarget(id)), outcome, startedAt, endedAt }) as const;
  const deployments = [part('36', 'failed'), part('37', 'completed')];
  const past = closedRun({ siteIds: ['36', '37'], keepGoing: true }, { outcome: 'failed', deployments });
  await past.list();
  const before = shown(past);
  const lasts = before.targets.map(({ id, last, needsAttention }) => [
    id,
    last?.outcome,
    last?.durationMs,
    needsAttention,
  ]);
  assert.deepEqual(lasts, [
    ['36', null, null, false],
    ['37', null, null, false],
  ]);
  assert.deepEqual(before.attention, []);
  await past.readResults();
  const after = shown(past);
  assert.deepEqual(
    after.targets.map(({ id, last, needsAttention }) => [id, last?.outcome, last?.durationMs, needsAttention]),
    [
      ['36', 'failed', 20_000, true],
      ['37', 'completed', 20_000, false],
    ],
  );
  assert.deepEqual(
    after.attention.map(({ what }) => what),
    ['site 36'],
  );
});

test('a run whose result cannot be read says nothing of each of its targets either', async () => {
  const unreadable = () => Promise.reject(new Error('a payload is encrypted with the key "old"'));
  const past = closedRun({ siteIds: ['36', '37'], keepGoing: true }, { outcome: 'failed' }, unreadable);
  await past.list();
  await past.readResults();
  const { targets, attention } = shown(past);
  assert.deepEqual([targets.map(({ last }) => last?.outcome), attention], [[null, null], []]);
});

test('a result that Temporal did not give because of its limits is read later', async () => {
  const limited = Object.assign(new Error('limited'), { code: 8, details: 'limited', metadata: {} });
  let isLimited = true;
  const deployments = [{ ...emptyDeployment(siteTarget('36')), outcome: 'failed' as const }];
  const result = { outcome: 'failed' as const, deployments };
  const past = closedRun({ serverId: '12', siteIds: ['36'] }, result, () =>
    isLimited ? Promise.reject(limited) : Promise.resolve(emptyResult(result)),
  );
  await past.list();
  await assert.rejects(past.readResults());
  isLimited = false;
  await past.readResults();
  assert.equal(past.of(siteTarget('36'))[0]?.outcome, 'failed');
});

test('until its result is read, the outcome of a run is that of its only part, or of all if it is completed', async () => {
  const listed = async (input: RunInput, outcome: Outcome) => {
    const past = closedRun(input, { outcome });
    await past.list();
    return shown(past).targets.map(({ last }) => [last?.outcome, last?.durationMs]);
  };
  assert.deepEqual(await listed({ siteIds: ['36'] }, 'failed'), [['failed', 60_000]]);
  assert.deepEqual(await listed({ serverId: '13' }, 'failed'), [['failed', 60_000]]);
  assert.deepEqual(await listed({ serverId: '13', siteIds: ['36'] }, 'failed'), [[null, null]]);
  const both = await listed({ siteIds: ['36', '37'] }, 'completed');
  assert.deepEqual(both, [
    ['completed', null],
    ['completed', null],
  ]);
});
