/** What the board remembers from kept receipts. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Session } from '../../src/client/session.ts';
import { emptyDeployment, emptyResult } from '../../src/contract/results.ts';
import type { Receipt } from '../../src/features/receipts/shapes.ts';
import { appTarget, siteTarget } from '../../src/contract/target.ts';
import { createPast } from '../../src/features/board/past.ts';
import { receiptOf, entriesOf } from '../../src/features/receipts/entries.ts';
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
  return receiptOf(ids, entriesOf(ids, { ...known, answered: [], operations: [] }));
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
