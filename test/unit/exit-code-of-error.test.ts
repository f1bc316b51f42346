import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Outcome } from '../../src/contract/names.ts';
import type { RunResult } from '../../src/contract/run.ts';
import { emptyResult } from '../../src/contract/results.ts';
import { BelayError, exitCodeOf, readConfiguration } from '../../src/starter.ts';
import { README } from '../support/readme.ts';

test('a program exits with the code of the command line', () => {
  const failed = { ...emptyResult(), outcome: 'failed' as const };
  assert.equal(exitCodeOf(new BelayError('DeploymentFailed', 'x', failed)), 1);
  assert.equal(exitCodeOf(new BelayError('Refused', 'x', { ...failed, outcome: 'not_started' })), 6);
  assert.equal(exitCodeOf(new BelayError('Refused', 'x', { ...failed, outcome: 'unknown' })), 4);
  assert.equal(exitCodeOf(new BelayError('NoWorker', 'x')), 7);
  assert.equal(exitCodeOf(new BelayError('StoppedWaiting', 'x', emptyResult())), 124);
  assert.equal(exitCodeOf(new Error('x')), 70);
});

test('an outcome that this version does not know is no success', () => {
  const result = { ...emptyResult(), outcome: 'skipped' as Outcome };
  assert.equal(exitCodeOf(new BelayError('Internal', 'x', result)), 70);
  const { outcome, ...without } = emptyResult();
  assert.equal(outcome, null);
  assert.equal(exitCodeOf(new BelayError('Internal', 'x', without as RunResult)), 70);
});

test('a mistake in the configuration is an error of the library, of type Usage', async () => {
  await assert.rejects(readConfiguration({ path: '/nowhere/belay.yaml', isNamed: true }), (error) => {
    assert.ok(error instanceof BelayError);
    assert.deepEqual([error.type, exitCodeOf(error)], ['Usage', 2]);
    return true;
  });
});

test('the program in the README fails when its deployment does', () => {
  assert.match(README, /process\.exitCode = exitCodeOf\(error\);/);
});
