/** What lists show of a run or rollout in one line, and what a wait that ended early shows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stripVTControlCharacters as plain } from 'node:util';
import { hasStoppedWaiting, listLine, resultLines } from '../../src/cli/output/run-text.ts';
import { rolloutListLine } from '../../src/cli/output/rollout-text.ts';
import { emptyResult, emptyRollout } from '../../src/contract/results/empty-results.ts';

const message = `the deployment of site 34 failed: ${'because '.repeat(15)}of this`;
const failed = { outcome: 'failed', error: { type: 'DeploymentFailed', message } } as const;
const startedAt = '2026-03-02T08:00:00.000Z';

test('a list cuts a reason only to fit on the screen', () => {
  const run = emptyResult({ ...failed, startedAt, workflowId: 'deploy:34:k' });
  assert.equal(plain(listLine(run, null)), `${startedAt}  failed        deploy:34:k  ${message}`);
  const line = plain(listLine(run, 100));
  assert.equal(line.length, 100);
  assert.ok(line.endsWith('…'));
  assert.equal(plain(listLine(run, 60)), `${startedAt}  failed        deploy:34:k`);
});

test('a list of rollouts tells the attempts of one id apart, and says why one failed', () => {
  const rollout = emptyRollout({ startedAt, workflowId: 'rollout:steady:k' });
  const lines = [
    { ...rollout, ...failed },
    { ...rollout, outcome: 'completed' as const, attempt: 2 },
  ].map((it) => plain(rolloutListLine(it, null)));
  assert.deepEqual(lines, [
    `${startedAt}  failed        rollout:steady:k  none  ${message}`,
    `${startedAt}  completed     rollout:steady:k, attempt 2  none`,
  ]);
});

test('a wait that ended early is no failure of the run, and its hint is left to stderr', () => {
  const error = { type: 'StoppedWaiting', message: 'stopped waiting, the run continues; wait again with: …' } as const;
  const result = emptyResult({ error, phase: 'deploy', workflowId: 'deploy:34:k' });
  assert.ok(hasStoppedWaiting(result));
  assert.deepEqual(resultLines(result), ['stopped waiting, in progress: deploy', '  run: deploy:34:k']);
});
