/** The lists of features. Their order is behavior. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FACTS, PERMITS } from '../../src/activities/features.ts';
import { CONTRADICTIONS } from '../../src/config/features.ts';
import { ON_OPERATIONS, ON_ROLLOUTS, ON_RUNS } from '../../src/workflows/features.ts';

const names = (list: readonly { name: string }[]) => list.map(({ name }) => name);

describe('the features', () => {
  test('hold a run in this order: it replaces older runs, waits for freezes, and then asks people', () => {
    assert.deepEqual(names(ON_RUNS.holds), ['supersedingHold', 'freezeHold', 'approvalHold']);
  });

  test('look on at a run in this order: its page, its reports, and then its notification', () => {
    assert.deepEqual(names(ON_RUNS.observers), ['runPage', 'reporting', 'announcing']);
  });

  test('look on at an operation: its page', () => {
    assert.deepEqual(names(ON_OPERATIONS.observers), ['operationPage']);
  });

  test('check a deployment, and end one for a newer run', () => {
    assert.deepEqual(names(ON_RUNS.checks), ['siteChecks']);
    assert.deepEqual(names(ON_OPERATIONS.checks), ['siteCheck']);
    assert.deepEqual(names(ON_OPERATIONS.endings), ['endForNewerRun']);
  });

  test('hang on a rollout in this order: people are asked before its servers are asked for freezes', () => {
    const hooks = ['checkedServers', 'gatedWaves', 'approvedServers', 'frozenServers', 'announcingRollout'];
    assert.deepEqual(names(ON_ROLLOUTS), hooks);
  });

  test('say one fact each', () => {
    assert.deepEqual(names(FACTS), ['freezes', 'approvals', 'gates', 'checks', 'reports']);
  });

  test('permit a request in this order, so that a freeze beats an approval', () => {
    assert.deepEqual(names(PERMITS), ['freezePermit', 'approvalPermit']);
  });

  test('look for contradictions in belay.yaml in this order, so that a wrong fleet is named before what is for it', () => {
    assert.deepEqual(names(CONTRADICTIONS), [
      ...['checkInventory', 'checkRollouts', 'checkSchedules', 'checkFreezes', 'checkApprovals'],
      ...['checkSites', 'checkGates', 'checkReports'],
    ]);
  });
});
