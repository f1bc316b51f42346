/** The table of checks: what the site shows after the deployment, compared with before. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CheckAim, SiteRead } from '../../src/features/site-checks/shapes.ts';
import {
  afterSiteRead,
  decideCheck,
  evidenceOf,
  kindOf,
  NOTHING_SEEN,
  type CheckVerdict,
} from '../../src/features/site-checks/rules.ts';

const [OURS, BEFORE, THIRD] = ['3f2c1ab0d9e8f7a6', 'aaaaaaa0000', '9d9d9d9d9d9d'];

const AIM: CheckAim = {
  ...{ siteId: '34', name: 'shop', intervalMs: 5_000, tries: 6, inARow: 3, showsCommit: true },
  ...{ commit: OURS, orNewer: false },
};

const holds = (commit: string | null = null): SiteRead => ({ kind: 'holds', httpStatus: 200, commit, why: null });
const FAILS: SiteRead = { kind: 'fails', httpStatus: 503, commit: null, why: 'status 503, expected 2xx' };
const NOTHING: SiteRead = { kind: 'nothing', httpStatus: null, commit: null, why: 'no answer (ECONNREFUSED)' };

/** The last read is repeated until the check is decided. */
function check(
  baseline: SiteRead | null,
  reads: SiteRead[],
  aim: Partial<CheckAim> = {},
): CheckVerdict & { reads: number } {
  const all = { ...AIM, ...aim };
  let seen = NOTHING_SEEN;
  for (;;) {
    const read = reads[Math.min(seen.reads, reads.length - 1)]!;
    seen = afterSiteRead(seen, kindOf(all, baseline, read), read);
    const verdict = decideCheck(all, baseline, seen);
    if (verdict !== null) return { ...verdict, reads: seen.reads };
  }
}

const ends = (actual: CheckVerdict & { reads: number }, outcome: CheckVerdict['outcome'], message?: RegExp) => {
  assert.equal(actual.outcome, outcome, JSON.stringify(actual));
  if (message !== undefined && 'message' in actual) assert.match(actual.message, message);
};

describe('the check of a deployment', () => {
  test('passes with as many good reads in a row as it asks for, whatever the site showed before', () => {
    for (const before of [null, holds(BEFORE), FAILS, NOTHING]) {
      const passed = check(before, [holds(OURS)]);
      ends(passed, 'passed');
      assert.equal(passed.reads, 3);
    }
    assert.equal(check(FAILS, [FAILS, holds(OURS)]).reads, 4);
  });

  test('passes without a commit to expect, whatever commit the site shows', () => {
    ends(check(holds(BEFORE), [holds(THIRD)], { commit: null }), 'passed');
    ends(check(holds(), [holds()], { showsCommit: false }), 'passed');
  });

  test('fails if the last reads are bad, and names the expectation and the good reads', () => {
    for (const before of [null, holds(BEFORE), FAILS, NOTHING])
      ends(check(before, [FAILS]), 'failed', /^check shop: status 503, expected 2xx; 0 of 6 reads were good$/);
  });

  test('fails if good and bad reads come in turn', () => {
    ends(check(holds(BEFORE), [holds(OURS), FAILS, holds(OURS), FAILS, holds(OURS), FAILS]), 'failed', /3 of 6 reads/);
    ends(
      check(holds(BEFORE), [FAILS, holds(OURS), holds(OURS), FAILS, holds(OURS), holds(OURS)]),
      'failed',
      /as expected/,
    );
  });

  test('fails if the site still shows the commit of before to the end', () => {
    ends(check(holds(BEFORE), [holds(BEFORE)]), 'failed', /still shows commit aaaaaaa0000, that of before/);
  });

  test('passes once the site shows the new commit', () => {
    const passed = check(holds(BEFORE), [holds(BEFORE), holds(BEFORE), holds(OURS)]);
    ends(passed, 'passed');
    assert.equal(passed.reads, 5);
  });

  test('is unknown if the site shows a third commit', () => {
    ends(
      check(holds(BEFORE), [holds(THIRD)]),
      'unknown',
      /shows commit 9d9d9d9d9d9d, neither 3f2c1ab0d9e8 nor that of before/,
    );
    ends(check(NOTHING, [holds(THIRD)]), 'unknown');
  });

  test('passes with a third commit if newer ones will do and the one before is known', () => {
    ends(check(holds(BEFORE), [holds(THIRD)], { orNewer: true }), 'passed');
    ends(check(holds(BEFORE), [holds(BEFORE)], { orNewer: true }), 'failed', /still shows/);
    ends(check(NOTHING, [holds(THIRD)], { orNewer: true }), 'unknown');
  });

  test('fails if the site answered before and does not now', () => {
    for (const before of [holds(BEFORE), FAILS])
      ends(check(before, [NOTHING]), 'failed', /answered before the deployment, and now 0 of 6 reads were good/);
  });

  test('is unknown if no worker reached the site, neither before nor after', () => {
    for (const before of [NOTHING, null])
      ends(
        check(before, [NOTHING]),
        'unknown',
        /neither before the deployment nor after it: no answer \(ECONNREFUSED\)/,
      );
  });

  test('is unknown if the site is reached at times only, as before', () => {
    const atTimes = [holds(OURS), NOTHING, holds(OURS), NOTHING, holds(OURS), NOTHING];
    ends(check(NOTHING, atTimes), 'unknown', /not reached each time: 3 of 6/);
    ends(check(holds(BEFORE), atTimes), 'failed', /3 of 6 reads were good/);
  });

  test('is unknown if the site shows no commit, and did not before', () => {
    ends(check(holds(), [holds()]), 'unknown', /commit: the site shows no commit there/);
    ends(check(holds(BEFORE), [holds()]), 'failed', /the site shows no commit/);
    const odd = { ...holds(), why: 'commit: version is "3f2c1a", not 7 to 64 hex digits' };
    ends(
      check(odd, [odd]),
      'unknown',
      /: commit: version is "3f2c1a", not 7 to 64 hex digits, and it showed no commit/,
    );
    ends(check(holds(BEFORE), [odd]), 'failed', /: commit: version is "3f2c1a", not 7 to 64 hex digits; 0 of/);
  });

  test('compares commits by what both of them show', () => {
    ends(check(holds(BEFORE), [holds(OURS.slice(0, 7))]), 'passed');
    ends(check(holds(BEFORE), [holds(OURS)], { commit: OURS.slice(0, 9) }), 'passed');
    ends(check(holds(BEFORE), [holds(BEFORE.slice(0, 7))]), 'failed', /still shows/);
  });
});

describe('the commit of a site', () => {
  test('is identity if it is the expected one, and was another one before', () => {
    assert.equal(evidenceOf(AIM, holds(BEFORE), holds(OURS)), 'identity');
    assert.equal(evidenceOf(AIM, holds(BEFORE), { ...FAILS, commit: OURS }), 'identity');
  });

  test('is no evidence if the site showed it before, or if it is not known what it showed', () => {
    assert.equal(evidenceOf(AIM, holds(OURS), holds(OURS)), null);
    assert.equal(evidenceOf(AIM, holds(BEFORE), holds(BEFORE)), null);
    for (const before of [null, holds(), NOTHING]) assert.equal(evidenceOf(AIM, before, holds(OURS)), null);
  });

  test('is a change and no more if it is not the expected one, or if none is expected', () => {
    assert.equal(evidenceOf(AIM, holds(BEFORE), holds(THIRD)), 'changed');
    assert.equal(evidenceOf({ ...AIM, commit: null }, holds(BEFORE), holds(OURS)), 'changed');
  });
});
