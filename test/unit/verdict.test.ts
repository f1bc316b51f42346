import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { EVIDENCE, type StatusState } from '../../src/contract/run.ts';
import {
  judge,
  look,
  NOTHING_SEEN,
  traceOf,
  type Question,
  type Seen,
  type Sighting,
  type Verdict,
} from '../../src/workflows/rules/verdict.ts';

const SETTLE_MS = 60_000;

function sighting(status: string, marks: string[] = []): Sighting {
  const word = status.trim().toLowerCase();
  const state: StatusState = word === 'completed' || word === 'failed' ? word : 'in_progress';
  return { ok: true, status, state, marks };
}

function question(baseline: Sighting | null, more: Partial<Question> = {}): Question {
  return { baseline, acceptedMs: 0, triggerMarks: [], settleMs: SETTLE_MS, minEvidence: 'settled', ...more };
}

/** The verdict after reads at these times, every one of our own. */
function after(asked: Question, reads: [atMs: number, read: Sighting][], own = true): Verdict {
  let seen: Seen = NOTHING_SEEN;
  let verdict: Verdict = null;
  for (const [atMs, read] of reads) {
    seen = look(asked, seen, read, own);
    verdict = judge(asked, seen, read, atMs);
    if (verdict !== null) return verdict;
  }
  return verdict;
}

const every10s = (count: number, status: string): [number, Sighting][] =>
  Array.from({ length: count }, (_, index) => [(index + 1) * 10_000, sighting(status)]);

test("yesterday's completed is no verdict", () => {
  assert.equal(after(question(sighting('completed')), [[1_000, sighting('completed')]]), null);
});

test('a status seen in progress after the trigger makes the next final one ours: transition', () => {
  const reads: [number, Sighting][] = [
    [1_000, sighting('building')],
    [10_000, sighting('completed')],
  ];
  assert.deepEqual(after(question(sighting('completed')), reads), {
    kind: 'verdict',
    outcome: 'completed',
    evidence: 'transition',
  });
});

test('a final status that differs from the baseline is ours: changed, in both directions', () => {
  for (const [old, now] of [
    ['completed', 'failed'],
    ['failed', 'completed'],
  ] as const) {
    const verdict = after(question(sighting(old)), [[1_000, sighting(now)]]);
    assert.deepEqual(verdict, { kind: 'verdict', outcome: now, evidence: 'changed' });
  }
});

test('the first deployment of a site is ours: changed', () => {
  const verdict = after(question(null), [[1_000, sighting('failed')]]);
  assert.deepEqual(verdict, { kind: 'verdict', outcome: 'failed', evidence: 'changed' });
});

test('the same final status is settled after four reads over the settle time, and not before', () => {
  assert.equal(after(question(sighting('completed')), every10s(5, 'completed')), null);
  assert.deepEqual(after(question(sighting('completed')), every10s(6, 'completed')), {
    kind: 'verdict',
    outcome: 'completed',
    evidence: 'settled',
  });
  const few: [number, Sighting][] = [20_000, 40_000, 60_000].map((ms) => [ms, sighting('completed')]);
  assert.equal(after(question(sighting('completed')), few), null);
});

test('reads that follow hints settle nothing', () => {
  assert.equal(after(question(sighting('completed')), every10s(20, 'completed'), false), null);
});

test('nothing is settled while it is not known that the trigger was accepted', () => {
  const asked = question(sighting('completed'), { acceptedMs: null });
  assert.equal(after(asked, every10s(30, 'completed')), null);
});

test('an id that trigger and status share, and the baseline lacked, is identity', () => {
  const asked = question(sighting('completed', ['id:1']), { triggerMarks: ['id:2'] });
  assert.equal(after(asked, [[1_000, sighting('completed', ['id:1'])]]), null);
  const verdict = after(asked, [[1_000, sighting('completed', ['id:2'])]]);
  assert.deepEqual(verdict, { kind: 'verdict', outcome: 'completed', evidence: 'identity' });
});

test('a mark the baseline had already identifies nothing', () => {
  const asked = question(sighting('completed', ['commit:c']), { triggerMarks: ['commit:c'] });
  assert.equal(after(asked, [[1_000, sighting('completed', ['commit:c'])]]), null);
});

test('evidence below the minimum is unproven once the settle time is over', () => {
  const asked = question(sighting('failed'), { minEvidence: 'transition' });
  assert.equal(after(asked, every10s(5, 'completed')), null);
  assert.deepEqual(after(asked, every10s(6, 'completed')), { kind: 'unproven', evidence: 'changed' });
});

test('statuses are compared trimmed and case-blind', () => {
  assert.equal(traceOf(sighting('Completed'), sighting(' completed ')), null);
});

test('property: a verdict is the last status read, and never weaker than asked for', () => {
  const word = fc.constantFrom('completed', 'failed', 'building', 'COMPLETED', 'queued');
  const scenario = fc.record({
    baseline: fc.option(word.filter((it) => sighting(it).state !== 'in_progress')),
    reads: fc.array(fc.record({ word, gapMs: fc.integer({ min: 1, max: 30_000 }) }), { maxLength: 30 }),
    minEvidence: fc.constantFrom(...EVIDENCE),
  });
  fc.assert(
    fc.property(scenario, ({ baseline, reads, minEvidence }) => {
      let atMs = 0;
      const timed = reads.map(({ word: status, gapMs }): [number, Sighting] => [(atMs += gapMs), sighting(status)]);
      const asked = question(baseline === null ? null : sighting(baseline), { minEvidence });
      const verdict = after(asked, timed);
      if (verdict?.kind !== 'verdict') return;
      assert.ok(EVIDENCE.indexOf(verdict.evidence) <= EVIDENCE.indexOf(minEvidence));
      const inProgress = timed.findIndex(([, read]) => read.state === 'in_progress');
      const changed = timed.some(([, read]) => traceOf(asked.baseline, read) === 'changed');
      // Without a trace of a new deployment there must have been the whole settle time.
      if (inProgress < 0 && !changed) assert.ok(atMs >= SETTLE_MS && verdict.evidence === 'settled');
    }),
  );
});
