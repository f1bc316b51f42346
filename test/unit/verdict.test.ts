import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { EVIDENCE } from '../../src/contract/names.ts';
import type { StatusState } from '../../src/contract/activities.ts';
import {
  decideVerdict,
  deploymentIds,
  observe,
  settleAgain,
  sinceAcceptance,
  NO_OBSERVATIONS,
  traceOf,
  type VerdictContext,
  type Observations,
  type StatusReading,
  type Verdict,
} from '../../src/rules/verdict.ts';

const SETTLE_MS = 60_000;

function sighting(status: string, identityMarkers: string[] = []): StatusReading {
  const word = status.trim().toLowerCase();
  const state: StatusState = word === 'completed' || word === 'failed' ? word : 'in_progress';
  return { ok: true, status, state, identityMarkers };
}

function question(baseline: StatusReading | null, more: Partial<VerdictContext> = {}): VerdictContext {
  return { baseline, acceptedMs: 0, triggerIds: [], settleMs: SETTLE_MS, minEvidence: 'settled', ...more };
}

/** The verdict after reads at these times, all of them Belay's own. */
function after(asked: VerdictContext, reads: [atMs: number, read: StatusReading][], own = true): Verdict {
  let seen: Observations = NO_OBSERVATIONS;
  let verdict: Verdict = null;
  for (const [atMs, read] of reads) {
    seen = observe(seen, read, own);
    verdict = decideVerdict(asked, seen, read, atMs);
    if (verdict !== null) return verdict;
  }
  return verdict;
}

const every10s = (count: number, status: string): [number, StatusReading][] =>
  Array.from({ length: count }, (_, index) => [(index + 1) * 10_000, sighting(status)]);

test('a completed status from before the trigger gives no verdict', () => {
  assert.equal(after(question(sighting('completed')), [[1_000, sighting('completed')]]), null);
});

test('a status in progress after the trigger makes the next final status ours by transition', () => {
  const reads: [number, StatusReading][] = [
    [1_000, sighting('building')],
    [10_000, sighting('completed')],
  ];
  assert.deepEqual(after(question(sighting('completed')), reads), {
    kind: 'verdict',
    outcome: 'completed',
    evidence: 'transition',
  });
});

test('a final status that differs from the baseline is ours by change, in both directions', () => {
  for (const [old, now] of [
    ['completed', 'failed'],
    ['failed', 'completed'],
  ] as const) {
    const verdict = after(question(sighting(old)), [[1_000, sighting(now)]]);
    assert.deepEqual(verdict, { kind: 'verdict', outcome: now, evidence: 'changed' });
  }
});

test('the first deployment of a site is ours by change once its status lasts for the settle time', () => {
  assert.equal(after(question(null), every10s(5, 'failed')), null);
  const verdict = after(question(null), every10s(6, 'failed'));
  assert.deepEqual(verdict, { kind: 'verdict', outcome: 'failed', evidence: 'changed' });
});

test("without a baseline, yesterday's completed is no verdict while ours has not shown", () => {
  const reads: [number, StatusReading][] = [
    [1_000, sighting('completed')],
    [10_000, sighting('building')],
    [20_000, sighting('failed')],
  ];
  const verdict = after(question(null), reads);
  assert.deepEqual(verdict, { kind: 'verdict', outcome: 'failed', evidence: 'transition' });
});

test('reads before the acceptance do not count towards the settle time', () => {
  const asked = question(sighting('completed'), { acceptedMs: 0 });
  const early = [1, 2, 3].reduce((seen) => observe(seen, sighting('completed'), true), NO_OBSERVATIONS);
  const seen = observe(sinceAcceptance(early), sighting('completed'), true);
  assert.equal(decideVerdict(asked, seen, sighting('completed'), SETTLE_MS), null);
});

test('the settle time starts again after an outage', () => {
  const before = question(sighting('completed'), { acceptedMs: 0 });
  const later = settleAgain(before, SETTLE_MS);
  const seen = [1, 2, 3, 4].reduce((sofar) => observe(sofar, sighting('completed'), true), NO_OBSERVATIONS);
  assert.equal(decideVerdict(before, seen, sighting('completed'), SETTLE_MS)?.evidence, 'settled');
  assert.equal(decideVerdict(later, seen, sighting('completed'), 2 * SETTLE_MS - 1), null);
  assert.equal(decideVerdict(later, seen, sighting('completed'), 2 * SETTLE_MS)?.evidence, 'settled');
  assert.equal(settleAgain({ ...before, acceptedMs: null }, SETTLE_MS).acceptedMs, null);
});

test('an unchanged final status settles after four reads over the settle time, and not before', () => {
  assert.equal(after(question(sighting('completed')), every10s(5, 'completed')), null);
  assert.deepEqual(after(question(sighting('completed')), every10s(6, 'completed')), {
    kind: 'verdict',
    outcome: 'completed',
    evidence: 'settled',
  });
  const few: [number, StatusReading][] = [20_000, 40_000, 60_000].map((ms) => [ms, sighting('completed')]);
  assert.equal(after(question(sighting('completed')), few), null);
});

test('hinted reads settle nothing', () => {
  assert.equal(after(question(sighting('completed')), every10s(20, 'completed'), false), null);
});

test('nothing settles until the trigger is known to be accepted', () => {
  const asked = question(sighting('completed'), { acceptedMs: null });
  assert.equal(after(asked, every10s(30, 'completed')), null);
});

test('an id shared by trigger and status and absent from the baseline is identity', () => {
  const asked = question(sighting('completed', ['id:1']), { triggerIds: ['id:2'] });
  assert.equal(after(asked, [[1_000, sighting('completed', ['id:1'])]]), null);
  const verdict = after(asked, [[1_000, sighting('completed', ['id:2'])]]);
  assert.deepEqual(verdict, { kind: 'verdict', outcome: 'completed', evidence: 'identity' });
});

test('an id already in the baseline identifies nothing', () => {
  const asked = question(sighting('completed', ['id:1']), { triggerIds: ['id:1'] });
  assert.equal(after(asked, [[1_000, sighting('completed', ['id:1'])]]), null);
});

test('only ids identify a deployment, and not the id of its site or server', () => {
  const markers = ['commit:ab12', 'time:2026-01-01T00:00:00Z', 'id:34', 'id:12', 'id:7'];
  assert.deepEqual(deploymentIds(markers, ['34', '12']), ['id:7']);
});

test('evidence below the minimum is unproven once the settle time is over', () => {
  const asked = question(sighting('failed'), { minEvidence: 'transition' });
  assert.equal(after(asked, every10s(5, 'completed')), null);
  assert.deepEqual(after(asked, every10s(6, 'completed')), { kind: 'unproven', evidence: 'changed' });
});

test('statuses are compared without case and surrounding blanks', () => {
  assert.equal(traceOf(sighting('Completed'), sighting(' completed ')), null);
});

test('property: a verdict is the last status read and never weaker than the minimum', () => {
  const word = fc.constantFrom('completed', 'failed', 'building', 'COMPLETED', 'queued');
  const scenario = fc.record({
    baseline: fc.option(word.filter((it) => sighting(it).state !== 'in_progress')),
    reads: fc.array(fc.record({ word, gapMs: fc.integer({ min: 1, max: 30_000 }) }), { maxLength: 30 }),
    minEvidence: fc.constantFrom(...EVIDENCE),
  });
  fc.assert(
    fc.property(scenario, ({ baseline, reads, minEvidence }) => {
      let atMs = 0;
      const timed = reads.map(({ word: status, gapMs }): [number, StatusReading] => [
        (atMs += gapMs),
        sighting(status),
      ]);
      const asked = question(baseline === null ? null : sighting(baseline), { minEvidence });
      const verdict = after(asked, timed);
      if (verdict?.kind !== 'verdict') return;
      assert.ok(EVIDENCE.indexOf(verdict.evidence) <= EVIDENCE.indexOf(minEvidence));
      const inProgress = timed.findIndex(([, read]) => read.state === 'in_progress');
      const changed = timed.some(([, read]) => traceOf(asked.baseline, read) === 'changed');
      // Without a trace of a new deployment the whole settle time must have passed.
      const lasting = asked.baseline === null ? 'changed' : 'settled';
      if (inProgress < 0 && (!changed || asked.baseline === null)) {
        assert.ok(atMs >= SETTLE_MS && verdict.evidence === lasting);
      }
    }),
  );
});
