import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { EVIDENCE } from '../../src/contract/names.ts';
import type { DeploymentIds, StatusState } from '../../src/contract/activities.ts';
import {
  contradicts,
  judge,
  startRow,
  NO_OBSERVATIONS,
  traceOf,
  type CommitEvidence,
  type Judged,
  type VerdictContext,
  type Observations,
  type StatusReading,
  type Verdict,
} from '../../src/rules/verdict.ts';

const SETTLE_MS = 60_000;

function sighting(status: string, ids?: DeploymentIds | string): StatusReading {
  const word = status.trim().toLowerCase();
  const state: StatusState = word === 'completed' || word === 'failed' ? word : 'in_progress';
  const named = typeof ids === 'string' ? { id: ids } : ids;
  return { ok: true, status, state, ...(named === undefined ? {} : { ids: named }) };
}

function question(baseline: StatusReading | null, more: Partial<VerdictContext> = {}): VerdictContext {
  return {
    ...{ baseline, accepted: true, triggerIds: {}, earlierAnswers: [], otherIds: ['34', '12'], settleMs: SETTLE_MS },
    ...{ minEvidence: 'settled', ...more },
  };
}

type Read = [atMs: number, read: StatusReading];

interface Shown {
  own?: boolean;
  page?: CommitEvidence;
  beganMs?: number;
}

/** What these reads show, all of them Belay's own, and the verdict. */
function observed(asked: VerdictContext, reads: Read[], { own = true, page, beganMs = 0 }: Shown = {}) {
  let seen: Observations = startRow(NO_OBSERVATIONS, beganMs);
  let evidence: Judged['evidence'] = null;
  let verdict: Verdict = null;
  for (const [nowMs, read] of reads) {
    ({ seen, evidence, verdict } = judge(asked, seen, read, { own, nowMs, shownBySite: page ?? null }));
    if (verdict !== null) break;
  }
  return { seen, evidence, verdict };
}

const after = (asked: VerdictContext, reads: Read[], shown?: Shown): Verdict => observed(asked, reads, shown).verdict;

const every10s = (count: number, status: string, ids?: DeploymentIds | string, fromMs = 0): Read[] =>
  Array.from({ length: count }, (_, index) => [fromMs + (index + 1) * 10_000, sighting(status, ids)]);

const verdict = (outcome: string, evidence: string) => ({ kind: 'verdict', outcome, evidence });

describe('a verdict', () => {
  test('a completed status from before the trigger gives no verdict', () => {
    assert.equal(after(question(sighting('completed')), [[1_000, sighting('completed')]]), null);
  });

  test('a status in progress after the trigger makes the next final status ours by transition', () => {
    const reads: Read[] = [
      [1_000, sighting('building')],
      [10_000, sighting('completed')],
    ];
    assert.deepEqual(after(question(sighting('completed')), reads), verdict('completed', 'transition'));
  });

  test('a final status that differs from the baseline is ours by change, in both directions', () => {
    for (const [old, now] of [
      ['completed', 'failed'],
      ['failed', 'completed'],
    ] as const) {
      assert.deepEqual(after(question(sighting(old)), [[1_000, sighting(now)]]), verdict(now, 'changed'));
    }
  });

  test('the first deployment of a site is ours by change once its status lasts for the settle time', () => {
    assert.equal(after(question(null), every10s(5, 'failed')), null);
    assert.deepEqual(after(question(null), every10s(6, 'failed')), verdict('failed', 'changed'));
  });

  test("without a baseline, yesterday's completed is no verdict while ours has not shown", () => {
    const reads: Read[] = [
      [1_000, sighting('completed')],
      [10_000, sighting('building')],
      [20_000, sighting('failed')],
    ];
    assert.deepEqual(after(question(null), reads), verdict('failed', 'transition'));
  });

  test('reads before the acceptance do not count towards the settle time', () => {
    const asked = question(sighting('completed'));
    const look = (seen: Observations, nowMs: number) => judge(asked, seen, sighting('completed'), { own: true, nowMs });
    const early = [1, 2, 3].reduce((seen) => look(seen, 0).seen, NO_OBSERVATIONS);
    assert.equal(look(startRow(early, 0), SETTLE_MS).verdict, null);
  });

  test('the settle time starts again after an outage', () => {
    const asked = question(sighting('completed'));
    const evidenceAt = (beganMs: number, nowMs: number) => {
      const reads = Array.from({ length: 4 }, (): Read => [nowMs, sighting('completed')]);
      return observed(asked, reads, { beganMs }).verdict?.evidence ?? null;
    };
    assert.equal(evidenceAt(0, SETTLE_MS), 'settled');
    assert.equal(evidenceAt(SETTLE_MS, 2 * SETTLE_MS - 1), null);
    assert.equal(evidenceAt(SETTLE_MS, 2 * SETTLE_MS), 'settled');
  });

  test('an unchanged final status settles after four reads over the settle time, and not before', () => {
    assert.equal(after(question(sighting('completed')), every10s(5, 'completed')), null);
    assert.deepEqual(after(question(sighting('completed')), every10s(6, 'completed')), verdict('completed', 'settled'));
    const few: Read[] = [20_000, 40_000, 60_000].map((ms) => [ms, sighting('completed')]);
    assert.equal(after(question(sighting('completed')), few), null);
  });

  test('hinted reads settle nothing', () => {
    assert.equal(after(question(sighting('completed')), every10s(20, 'completed'), { own: false }), null);
  });

  test('nothing settles until the trigger is known to be accepted', () => {
    const asked = question(sighting('completed'), { accepted: false });
    assert.equal(after(asked, every10s(30, 'completed')), null);
  });

  test('evidence below the minimum is unproven once the settle time is over', () => {
    const asked = question(sighting('failed'), { minEvidence: 'transition' });
    assert.equal(after(asked, every10s(5, 'completed')), null);
    assert.deepEqual(after(asked, every10s(6, 'completed')), { kind: 'unproven', evidence: 'changed' });
  });

  test('statuses are compared without case and surrounding blanks', () => {
    const asked = question(sighting('Completed'));
    const { seen } = observed(asked, [[1_000, sighting(' completed ')]]);
    assert.equal(traceOf(asked, seen, sighting(' completed '), { nowMs: 0 }), null);
  });
});

describe('the page of a site', () => {
  test('decides nothing: a status that equals the baseline waits out the settle time, and is labelled then', () => {
    for (const [page, evidence] of [
      ['identity', 'identity'],
      ['changed', 'changed'],
    ] as const) {
      const asked = question(sighting('completed'));
      assert.equal(after(asked, every10s(5, 'completed'), { page }), null);
      assert.deepEqual(after(asked, every10s(6, 'completed'), { page }), verdict('completed', evidence));
    }
  });

  test('says nothing of the failed status of before, which settles as any other', () => {
    const asked = question(sighting('failed'));
    assert.equal(after(asked, every10s(5, 'failed'), { page: 'identity' }), null);
    assert.deepEqual(after(asked, every10s(6, 'failed'), { page: 'identity' }), verdict('failed', 'settled'));
  });

  test('labels what a transition or a change decides, and weakens nothing', () => {
    const moved: Read[] = [
      [1_000, sighting('building')],
      [2_000, sighting('failed')],
    ];
    assert.deepEqual(after(question(sighting('failed')), moved, { page: 'identity' }), verdict('failed', 'identity'));
    assert.deepEqual(after(question(sighting('failed')), moved, { page: 'changed' }), verdict('failed', 'transition'));
    const changed: Read[] = [[1_000, sighting('completed')]];
    const asked = question(sighting('failed'), { minEvidence: 'identity' });
    assert.deepEqual(after(asked, changed, { page: 'identity' }), verdict('completed', 'identity'));
  });
});

describe('the ids of answers', () => {
  test('an id shared by trigger and status and absent from the baseline is identity', () => {
    const asked = question(sighting('completed', '1'), { triggerIds: { 'deployment.id': '2' } });
    assert.equal(after(asked, [[1_000, sighting('completed', '1')]]), null);
    assert.deepEqual(after(asked, [[1_000, sighting('completed', '2')]]), verdict('completed', 'identity'));
  });

  test('an id already in the baseline identifies nothing, and neither does that of the site or its server', () => {
    for (const id of ['1', '34', '12']) {
      const asked = question(sighting('completed', '1'), { triggerIds: { id } });
      assert.notEqual(after(asked, every10s(9, 'completed', id))?.evidence, 'identity');
    }
    const asked = question(sighting('completed', '34'), { triggerIds: { id: '34' } });
    assert.deepEqual(after(asked, every10s(6, 'completed', '34')), verdict('completed', 'settled'));
  });

  test('an id of before ends no wait, is no trace, and breaks a row', () => {
    const asked = question(sighting('completed', '1'));
    const flips: Read[] = [
      [1_000, sighting('running', '2')],
      [2_000, sighting('completed', '1')],
      [3_000, sighting('running', '2')],
      [4_000, sighting('failed', '2')],
    ];
    assert.deepEqual(after(asked, flips), verdict('failed', 'transition'));
    assert.deepEqual(after(question(sighting('completed', '1'), { triggerIds: { id: '2' } }), flips), {
      ...verdict('failed', 'identity'),
    });
    const broken = [...every10s(5, 'completed', '2'), ...every10s(1, 'completed', '1', 50_000)];
    assert.equal(after(asked, [...broken, ...every10s(6, 'completed', '2', 60_000)]), null);
    assert.deepEqual(
      after(asked, [...broken, ...every10s(7, 'completed', '2', 60_000)]),
      verdict('completed', 'settled'),
    );
  });

  test('an id that keeps the final word of the baseline decides nothing, however long it lasts', () => {
    const { verdict: none, seen } = observed(question(sighting('completed', '1')), every10s(99, 'completed', '1'));
    assert.deepEqual([none, seen.standing], [null, 'before']);
  });

  test('another id than ours, such as that of a push, ends no wait', () => {
    for (const triggerIds of [{}, { id: '2' }, { id: 'job' }]) {
      const asked = question(sighting('completed', '1'), { triggerIds });
      const pushed: Read[] = [[1_000, sighting('running', '2')], ...every10s(99, 'completed', '3')];
      const { verdict: none, seen } = observed(asked, pushed);
      assert.deepEqual([none, seen.standing], [null, 'another']);
    }
  });

  test('without an id of the trigger that was shown, ours is the one last seen in progress', () => {
    const asked = question(sighting('completed', '1'), { triggerIds: { id: 'job' } });
    const reads: Read[] = [
      [1_000, sighting('running', '2')],
      [2_000, sighting('running', '3')],
      [3_000, sighting('completed', '2')],
      [4_000, sighting('failed', '3')],
    ];
    assert.deepEqual(after(asked, reads), verdict('failed', 'transition'));
  });

  test('once shown, the id of the trigger stays ours, whatever is in progress later', () => {
    const asked = question(sighting('completed', '1'), { triggerIds: { id: '2' } });
    const reads: Read[] = [
      [1_000, sighting('running', '2')],
      [2_000, sighting('running', '3')],
      [3_000, sighting('failed', '3')],
      [4_000, sighting('completed', '2')],
    ];
    assert.deepEqual(after(asked, reads), verdict('completed', 'identity'));
  });

  test('a constant id waits for the row and the time after the last read in progress, and decides by its transition', () => {
    const asked = question(sighting('completed', 'constant'));
    const running = every10s(9, 'running', 'constant');
    assert.equal(after(asked, [...running, ...every10s(6, 'completed', 'constant', 90_000)]), null);
    assert.deepEqual(
      after(asked, [...running, ...every10s(7, 'completed', 'constant', 90_000)]),
      verdict('completed', 'transition'),
    );
  });

  test('a constant id under another final word waits for the row and the time, and decides by the change', () => {
    const asked = question(sighting('failed', 'constant'));
    assert.equal(after(asked, every10s(5, 'completed', 'constant')), null);
    assert.deepEqual(after(asked, every10s(6, 'completed', 'constant')), verdict('completed', 'changed'));
  });

  test('what followed from an id of before is forgotten once its field shows another one', () => {
    const asked = question(sighting('completed', '1'));
    const reads: Read[] = [
      [1_000, sighting('running', '1')],
      ...every10s(3, 'completed', '1', 1_000),
      [40_000, sighting('completed', '2')],
    ];
    const { seen, verdict: none } = observed(asked, reads);
    assert.deepEqual([none, seen.kept, seen.inProgress, seen.row.reads], [null, null, false, 1]);
    assert.equal(after(asked, [...reads, ...every10s(99, 'completed', '1', 40_000)]), null);
  });

  test('a third id that was never in progress waits for the row and the time while the id of the trigger is not shown', () => {
    const asked = question(sighting('completed', '1'), { triggerIds: { id: 'job' } });
    assert.equal(after(asked, every10s(5, 'failed', '0')), null);
    assert.deepEqual(after(asked, every10s(6, 'failed', '3')), verdict('failed', 'changed'));
    const late: Read[] = [
      [1_000, sighting('failed', '0')],
      [2_000, sighting('running', 'job')],
      [3_000, sighting('completed', 'job')],
    ];
    assert.deepEqual(after(asked, late), verdict('completed', 'identity'));
  });

  test('of two fields, the one that changes is ours, and the constant one blocks nothing', () => {
    const asked = question(sighting('completed', { id: 'app', 'data.id': '1' }));
    const reads: Read[] = [
      [1_000, sighting('running', { id: 'app', 'data.id': '2' })],
      [2_000, sighting('completed', { id: 'app', 'data.id': '1' })],
      [3_000, sighting('failed', { id: 'app', 'data.id': '2' })],
    ];
    assert.deepEqual(after(asked, reads), verdict('failed', 'transition'));
  });

  test('an id in a field that the baseline lacked, under its word, puts a request in doubt and is no trace', () => {
    const traceOfRead = (baseline: StatusReading | null, read: StatusReading) => {
      const asked = question(baseline, { accepted: false });
      const trace = traceOf(asked, observed(asked, [[1_000, read]]).seen, read, { nowMs: 1_000 });
      return trace && [trace.by, trace.doubt];
    };
    assert.deepEqual(traceOfRead(sighting('completed'), sighting('completed', '1')), ['changed', 'appeared']);
    assert.deepEqual(traceOfRead(sighting('completed', { uuid: 'u' }), sighting('completed', '1')), [
      ...['changed', 'appeared'],
    ]);
    assert.deepEqual(traceOfRead(sighting('completed'), sighting('failed', '1')), ['changed', null]);
    assert.deepEqual(traceOfRead(sighting('completed'), sighting('running', '1')), ['transition', null]);
    assert.deepEqual(traceOfRead(sighting('completed', '1'), sighting('completed', '2')), ['changed', 'once']);
    assert.deepEqual(traceOfRead(sighting('failed', '1'), sighting('completed', '2')), ['changed', null]);
    assert.deepEqual(traceOfRead(null, sighting('completed', '1')), ['changed', null]);
  });

  test('an id that the baseline lacked is a trace, whatever its word, and an id that it had is none', () => {
    const traceBy = (baseline: StatusReading, read: StatusReading) => {
      const asked = question(baseline, { accepted: false });
      const { seen } = observed(asked, [[1_000, read]]);
      return [traceOf(asked, seen, read, { nowMs: 0 })?.by ?? null, seen.kept !== null];
    };
    assert.deepEqual(traceBy(sighting('completed', '1'), sighting('completed', '2')), ['changed', false]);
    assert.deepEqual(traceBy(sighting('completed', '1'), sighting('completed', '1')), [null, false]);
    assert.deepEqual(traceBy(sighting('completed', '1'), sighting('running', '1')), [null, true]);
    assert.deepEqual(traceBy(sighting('completed', '1'), sighting('failed', '1')), [null, true]);
    assert.deepEqual(traceBy(sighting('completed'), sighting('running')), ['transition', false]);
    const beside = (word: string, id: string) => sighting(word, { id: 'app', 'data.id': id });
    assert.deepEqual(traceBy(beside('completed', '1'), beside('completed', '2')), ['changed', false]);
    assert.deepEqual(traceBy(beside('completed', '1'), beside('failed', '2')), ['changed', true]);
    assert.deepEqual(traceBy(beside('completed', '1'), beside('completed', '1')), [null, false]);
  });
});

test('property: a verdict is the last status read and never weaker than the minimum', () => {
  const word = fc.constantFrom('completed', 'failed', 'building', 'COMPLETED', 'queued');
  const scenario = fc.record({
    baseline: fc.option(word.filter((it) => sighting(it).state !== 'in_progress')),
    reads: fc.array(fc.record({ word, gapMs: fc.integer({ min: 1, max: 30_000 }) }), { maxLength: 30 }),
    minEvidence: fc.constantFrom(...EVIDENCE),
    page: fc.constantFrom<(CommitEvidence | undefined)[]>('identity', 'changed', undefined),
  });
  fc.assert(
    fc.property(scenario, ({ baseline, reads, minEvidence, page }) => {
      let atMs = 0;
      const timed = reads.map(({ word: status, gapMs }): Read => [(atMs += gapMs), sighting(status)]);
      const asked = question(baseline === null ? null : sighting(baseline), { minEvidence });
      const decided = after(asked, timed, page === undefined ? {} : { page });
      if (decided?.kind !== 'verdict') return;
      assert.ok(EVIDENCE.indexOf(decided.evidence) <= EVIDENCE.indexOf(minEvidence));
      const inProgress = timed.some(([, read]) => read.state === 'in_progress');
      const words = timed.map(([, read]) => read.status.toLowerCase());
      const changed = words.some((it) => it !== baseline?.toLowerCase());
      // Without a trace of a new deployment the whole settle time must have passed.
      if (!inProgress && (!changed || baseline === null)) assert.ok(atMs >= SETTLE_MS);
    }),
  );
});

test('property: what ids contradict never decides', () => {
  const read = fc.record({
    word: fc.constantFrom('completed', 'failed', 'running'),
    ids: fc.record({ id: fc.constantFrom('0', '1', '2', '3'), uuid: fc.constantFrom('u', 'v') }, { requiredKeys: [] }),
    gapMs: fc.integer({ min: 1, max: 30_000 }),
  });
  const scenario = fc.record({
    reads: fc.array(read, { maxLength: 30 }),
    trigger: fc.constantFrom('', '1', '2', 'job'),
  });
  fc.assert(
    fc.property(scenario, ({ reads, trigger }) => {
      let atMs = 0;
      const timed = reads.map(({ word, ids, gapMs }): Read => [(atMs += gapMs), sighting(word, ids)]);
      const asked = question(sighting('completed', { id: '1', uuid: 'u' }), { triggerIds: { job: trigger } });
      const { seen, verdict: decided } = observed(asked, timed);
      assert.ok(decided === null || !contradicts(seen.standing));
    }),
  );
});

test('the evidence so far is a transition only while nothing was forgotten', () => {
  const asked = question(sighting('completed', '1'));
  const evidenceAfter = (reads: Read[]) => observed(asked, reads).evidence;
  const stale: Read = [1_000, sighting('running', '1')];
  assert.equal(evidenceAfter([stale]), 'transition');
  assert.equal(evidenceAfter([stale, [2_000, sighting('completed', '2')]]), null);
  assert.equal(evidenceAfter([[1_000, sighting('running', '2')], stale]), 'transition');
});
