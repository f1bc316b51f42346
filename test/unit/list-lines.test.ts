/** What lists show of a run or rollout in one line, and what a wait that ended early shows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stripVTControlCharacters as plain } from 'node:util';
import { hasStoppedWaiting, resultLines, runTable } from '../../src/cli/run-text.ts';
import { rolloutListLine } from '../../src/features/rollouts/actions-show.ts';
import { emptyDeployment, emptyResult, emptyRollout } from '../../src/contract/results.ts';
import { appTarget, siteTarget } from '../../src/contract/target.ts';

const message = `the deployment of site 34 failed: ${'because '.repeat(15)}of this`;
const failed = { outcome: 'failed', error: { type: 'DeploymentFailed', message } } as const;
const startedAt = '2026-03-02T08:00:00.000Z';
const shownStart = '2026-03-02T08:00:00Z';

test('a list of runs has a header, whole seconds, durations and what is deployed', () => {
  const deployments = [siteTarget('34'), appTarget('7')].map(emptyDeployment);
  const runs = [
    emptyResult({
      startedAt,
      endedAt: '2026-03-02T08:02:10.400Z',
      outcome: 'completed',
      workflowId: 'w1',
      deployments,
    }),
    emptyResult({ startedAt, phase: 'backup', workflowId: 'backup:12:k' }),
  ];
  assert.deepEqual(runTable(runs, null).map(plain), [
    'STARTED               STATE                TOOK   SITES      RUN',
    '2026-03-02T08:00:00Z  completed            2m10s  34, app 7  w1',
    '2026-03-02T08:00:00Z  in progress: backup  –      –          backup:12:k',
  ]);
});

test('a list of runs shows who started them from CI and for which commit, if any run names it', () => {
  const meta = { by: 'ann', commit: '3f2c1ab0000011112222', job: 'https://ci.example/1' };
  const lines = runTable([emptyResult({ workflowId: 'w1', meta }), emptyResult({ workflowId: 'w2' })], null);
  assert.deepEqual(lines.map(plain), [
    'STARTED  STATE        TOOK  SITES  FROM              RUN',
    '–        in progress  –     –      ann 3f2c1ab00000  w1',
    '–        in progress  –     –                        w2',
  ]);
});

test('a list cuts sites and reasons to fit on the screen, and never the id of a run', () => {
  const deployments = ['34', '35', '36', '37', '38'].map((id) => emptyDeployment(siteTarget(id)));
  const run = emptyResult({ ...failed, startedAt, endedAt: startedAt, workflowId: 'deploy:34:k', deployments });
  const whole = `2026-03-02T08:00:00Z  failed  1s    34, 35, 36, 37, 38  deploy:34:k  ${message}`;
  assert.equal(plain(runTable([run], null)[1]!), whole);
  assert.equal(plain(runTable([run], 100)[1]!), `${whole.slice(0, 99)}…`);
  assert.equal(plain(runTable([run], 60)[1]!), '2026-03-02T08:00:00Z  failed  1s    34, 35, 36…  deploy:34:k');
});

test('a list of rollouts tells the attempts of one id apart, and says why one failed', () => {
  const rollout = emptyRollout({ startedAt, workflowId: 'rollout:steady:k' });
  const lines = [
    { ...rollout, ...failed },
    { ...rollout, outcome: 'completed' as const, attempt: 2 },
  ].map((it) => plain(rolloutListLine(it, null)));
  assert.deepEqual(lines, [
    `${shownStart}  failed        rollout:steady:k  none  ${message}`,
    `${shownStart}  completed     rollout:steady:k, attempt 2  none`,
  ]);
});

test('a wait that ended early is no failure of the run, and its hint is left to stderr', () => {
  const error = { type: 'StoppedWaiting', message: 'stopped waiting, the run continues; wait again with: …' } as const;
  const result = emptyResult({ error, phase: 'deploy', workflowId: 'deploy:34:k' });
  assert.ok(hasStoppedWaiting(result));
  assert.deepEqual(resultLines(result), ['stopped waiting, in progress: deploy', '  run: deploy:34:k']);
});
