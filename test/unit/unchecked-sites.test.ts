/** Sites that were not checked: because nobody could, or because somebody decided so. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { exceptionsOf } from '../../src/cli/options.ts';
import type { CheckAim, CheckResult } from '../../src/features/site-checks/shapes.ts';
import { emptyDeployment } from '../../src/contract/results.ts';
import { siteTarget } from '../../src/contract/target.ts';
import { checkText } from '../../src/features/site-checks/text.ts';
import { validateRunInput } from '../../src/request/input/run-input.ts';
import { conclude } from '../../src/workflows/conclusion.ts';
import { unlessUnchecked } from '../../src/features/site-checks/check.ts';

const COMMIT = '3f2c1ab0d9e8';
const AIM: CheckAim = {
  ...{ siteId: '34', name: 'shop', intervalMs: 5_000, tries: 24, inARow: 3 },
  ...{ showsCommit: true, commit: null, orNewer: false },
};
const COMPLETED = { outcome: 'completed', error: null } as const;
const read = (commit: string | null) => ({ kind: 'holds', httpStatus: 200, commit, why: null }) as const;
const check = (more: Partial<CheckResult> = {}): CheckResult => ({
  ...{ name: 'shop', outcome: 'passed', reads: 3, goodReads: 3, baseline: read(null), last: read(null) },
  ...more,
});
const deployed = (found: CheckResult | null) => ({ ...emptyDeployment(siteTarget('34')), check: found });

describe('a deployment whose site has a check', () => {
  test('is unknown if the operation reports completed without the result of one, as a build without checks does', () => {
    for (const result of [deployed(null), deployed(check({ outcome: null, reads: 0 }))]) {
      const { outcome, error } = unlessUnchecked({ ...result, ...COMPLETED }, AIM);
      assert.deepEqual([outcome, error?.type], ['unknown', 'OutcomeUnknown']);
      assert.match(error?.message ?? '', /check shop was not made/);
    }
  });

  test('is what the operation reports if the check passed, or if it did not complete anyway', () => {
    assert.deepEqual(unlessUnchecked({ ...deployed(check()), ...COMPLETED }, AIM), COMPLETED);
    const failed = conclude('failed', 'DeploymentFailed', 'x');
    assert.deepEqual(unlessUnchecked({ ...deployed(null), ...failed }, AIM), failed);
    assert.deepEqual(unlessUnchecked({ ...deployed(null), ...COMPLETED }, undefined), COMPLETED);
  });
});

describe('a result says that the commit was named, not seen', () => {
  const text = (
    found: CheckResult | null,
    commit: string | null = COMMIT,
    outcome: 'completed' | 'failed' = 'completed',
  ) => checkText({ outcome, check: found }, { commit });

  test('if the site has no check, or its check shows no commit', () => {
    assert.equal(text(null), `commit ${COMMIT} was named, not seen`);
    assert.equal(text(check()), `check passed, 3 of 3 reads good, commit ${COMMIT} was named, not seen`);
  });

  test('but not if it shows one, if none was expected, or if the deployment did not complete', () => {
    assert.equal(text(check({ last: read(COMMIT) })), `check passed, 3 of 3 reads good, commit ${COMMIT}`);
    assert.equal(text(null, null), null);
    assert.equal(text(null, COMMIT, 'failed'), null);
  });
});

describe('--no-check', () => {
  test('requires --reason, which serves --override-freeze as well', () => {
    assert.deepEqual(exceptionsOf({ check: false, reason: 'moved' }), { noCheck: { reason: 'moved' } });
    assert.deepEqual(exceptionsOf({ check: false, overrideFreeze: ['stock'], reason: 'CVE' }), {
      override: { freezes: ['stock'], reason: 'CVE' },
      noCheck: { reason: 'CVE' },
    });
    assert.deepEqual(exceptionsOf({ check: true }), {});
    assert.throws(() => exceptionsOf({ check: false }), { message: '--no-check requires --reason' });
    assert.throws(() => exceptionsOf({ overrideFreeze: ['stock'] }), /--override-freeze requires --reason/);
    assert.throws(
      () => exceptionsOf({ reason: 'CVE' }),
      /--reason is for an exception: give --override-freeze, or --no-check/,
    );
  });

  test('is rejected with an empty reason, and for a watched deployment', () => {
    const problem = (noCheck: unknown, type: 'deployOnly' | 'watchDeployment' = 'deployOnly') =>
      validateRunInput(type, { siteIds: ['34'], noCheck });
    assert.equal(problem({ reason: 'moved', by: 'ana' }), null);
    assert.match(problem({ reason: ' ' }) ?? '', /noCheck\.reason: is empty/);
    assert.match(problem({ reason: 'moved', by: '' }) ?? '', /noCheck\.by: is empty/);
    assert.match(problem({ reason: 'moved', why: 'x' }) ?? '', /noCheck\.why: is not a field/);
    assert.match(problem(true) ?? '', /noCheck: is not an object/);
    assert.match(problem({ reason: 'moved' }, 'watchDeployment') ?? '', /^noCheck: a watched deployment/);
  });
});
