/** What other places get to know: a state for each end and each wait of a run. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { lockIdOf } from '../../src/contract/ids.ts';
import type { ErrorType, Outcome, Phase } from '../../src/contract/names.ts';
import { emptyDeployment, emptyResult } from '../../src/contract/results.ts';
import { siteTarget } from '../../src/contract/target.ts';
import { statesOf } from '../../src/features/notifications/rules.ts';

const SITE = siteTarget('34');
const OTHER = siteTarget('35');

function ended(outcome: Outcome | null, type: ErrorType | null, message = 'why') {
  const error = type === null ? null : { type, message };
  return { ...emptyResult(), phase: 'done' as const, outcome, error, deployments: [emptyDeployment(SITE)] };
}

describe('the state that is reported', () => {
  for (const [outcome, type, state] of [
    ['completed', null, 'completed'],
    ['failed', 'DeploymentFailed', 'failed'],
    ['failed', 'BackupFailed', 'failed'],
    ['failed', 'CheckFailed', 'failed'],
    ['timed_out', 'DeploymentTimedOut', 'unclear'],
    ['unknown', 'OutcomeUnknown', 'unclear'],
    ['unknown', 'ResourceDeleted', 'unclear'],
    [null, 'Internal', 'unclear'],
    ['cancelled', 'Cancelled', 'cancelled'],
    ['not_started', 'Cancelled', 'cancelled'],
    ['not_started', 'Superseded', 'cancelled'],
    ['not_started', 'Frozen', 'cancelled'],
    ['not_started', 'ApprovalExpired', 'cancelled'],
    ['not_started', 'ApprovalRejected', 'refused'],
    ['not_started', 'Refused', 'refused'],
    ['not_started', 'Busy', 'refused'],
    ['not_started', 'TooLate', 'refused'],
  ] as const) {
    test(`is ${state} for a run that ends ${outcome ?? 'without an outcome'}, ${type ?? 'without an error'}`, () => {
      assert.deepEqual(statesOf(ended(outcome, type)).run, { state, text: type === null ? outcome : 'why' });
    });
  }

  for (const [phase, text] of [
    ['frozen', 'waits for the end of a freeze'],
    ['approval', 'waits for approval'],
    ['admission', 'waits for admission'],
  ] as const) {
    test(`is that it waits, and for what, in the phase ${phase}`, () => {
      assert.deepEqual(statesOf({ ...ended(null, null), phase }).run, { state: 'waiting', text });
    });
  }

  for (const phase of ['backup', 'queued', 'deploy', 'parked'] satisfies Phase[]) {
    test(`is in progress in the phase ${phase}`, () => {
      assert.deepEqual(statesOf({ ...ended(null, null), phase }).run, { state: 'begun', text: 'in progress' });
    });
  }

  test('names the run that replaced it', () => {
    const supersededBy = { workflowId: 'deploy:34:8', runId: 'r' };
    const { text } = statesOf({ ...ended('not_started', 'Superseded'), supersededBy }).run;
    assert.equal(text, 'replaced by deploy:34:8');
  });

  test('is that of each site, and a site that was not begun is kept back with its run', () => {
    const failed = { ...emptyDeployment(SITE), outcome: 'failed' as const };
    const error = { type: 'DeploymentFailed' as const, message: 'it failed' };
    const left = { ...emptyDeployment(OTHER), outcome: 'not_started' as const };
    const { parts } = statesOf({ ...ended('failed', 'DeploymentFailed'), deployments: [{ ...failed, error }, left] });
    const stateOf = (it: typeof SITE) => parts[lockIdOf(it)]?.state;
    assert.deepEqual([stateOf(SITE), stateOf(OTHER)], ['failed', 'refused']);
  });

  test('has a text of one line and at most 140 characters, whatever the service says', () => {
    const { text } = statesOf(ended('failed', 'DeploymentFailed', `a\nb\u202e${'x'.repeat(500)}`)).run;
    assert.ok(text.length <= 140, String(text.length));
    assert.doesNotMatch(text, /[\n\u202e]/);
  });
});
