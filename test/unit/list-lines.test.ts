/** What lists show of a run or rollout in one line, and what a wait that ended early shows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stripVTControlCharacters as plain } from 'node:util';
import { mostListed } from '../../src/cli/options.ts';
import { joinedNote } from '../../src/cli/wait-for-verdict.ts';
import { hasStoppedWaiting, resultLines, runTable } from '../../src/cli/run-text.ts';
import { rolloutLines, rolloutListLine, rolloutListLines } from '../../src/features/rollouts/actions-show.ts';
import type { ErrorType, Outcome } from '../../src/contract/names.ts';
import type { RolloutResult, TargetResult } from '../../src/features/rollouts/shapes.ts';
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
  assert.deepEqual(runTable(runs, Infinity).map(plain), [
    'STARTED               STATE                TOOK   SITES      RUN',
    '2026-03-02T08:00:00Z  completed            2m10s  34, app 7  w1',
    '2026-03-02T08:00:00Z  in progress: backup  –      –          backup:12:k',
  ]);
});

test('a list of runs shows who started them from CI and for which commit, if any run names it', () => {
  const meta = { by: 'ann', commit: '3f2c1ab0000011112222', job: 'https://ci.example/1' };
  const lines = runTable([emptyResult({ workflowId: 'w1', meta }), emptyResult({ workflowId: 'w2' })], Infinity);
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
  assert.equal(plain(runTable([run], Infinity)[1]!), whole);
  assert.equal(plain(runTable([run], 100)[1]!), `${whole.slice(0, 99)}…`);
  assert.equal(plain(runTable([run], 60)[1]!), '2026-03-02T08:00:00Z  failed  1s    34, 35, 36…  deploy:34:k');
});

test('a list since a time is long, whether of runs or of rollouts, and a cut one says so', () => {
  assert.deepEqual(
    [{}, { since: 1 }, { since: 1, limit: 5 }].map((it) => mostListed(it)),
    [20, 1_000, 5],
  );
  const rollouts = ['a', 'b'].map((key) => emptyRollout({ startedAt, workflowId: `rollout:steady:${key}` }));
  assert.equal(rolloutListLines(rollouts, 2, Infinity).at(-1), '2 rollouts; use a higher --limit to see more');
  assert.equal(rolloutListLines(rollouts, 3, Infinity).length, 2);
  assert.deepEqual(rolloutListLines([], 3, Infinity), ['no rollouts']);
});

test('a list of rollouts tells the attempts of one id apart, and says why one failed', () => {
  const rollout = emptyRollout({ startedAt, workflowId: 'rollout:steady:k' });
  const lines = [
    { ...rollout, ...failed },
    { ...rollout, outcome: 'completed' as const, attempt: 2 },
  ].map((it) => plain(rolloutListLine(it, Infinity)));
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

test('a result whose message states only a fact says what to do, by its exit code', () => {
  const nextOf = (outcome: Outcome, type: ErrorType, message: string) =>
    resultLines(emptyResult({ outcome, error: { type, message } })).find((line) => line.startsWith('  next: '));
  for (const [outcome, type, message, expected] of [
    ['timed_out', 'DeploymentTimedOut', 'the deployment of site 34 had not finished after 6 tries', /allow more tries/],
    ['unknown', 'Terminated', 'deploy:34:k was terminated', /check the service before you deploy again/],
    [
      'not_started',
      'Frozen',
      'site 34 was not deployed: frozen by "x" until 2027',
      /after the freeze: `belay freezes`/,
    ],
    [
      'not_started',
      'Refused',
      'server 12: the service answered 404',
      /check what this reason names, such as the service, the token or the ids, before/,
    ],
    ['not_started', 'Refused', 'the worker has no gate "errors"', /check what this reason names/],
    ['not_started', 'TooLate', 'site 34 was not deployed: it is too late', /start it again later/],
  ] as const)
    assert.match(nextOf(outcome, type, message) ?? '', expected);
  for (const [outcome, type, message] of [
    ['failed', 'DeploymentFailed', 'the deployment of site 34 failed'],
    ['not_started', 'ApprovalRejected', 'ana rejected it (production): not before the sale ends'],
    ['unknown', 'OutcomeUnknown', 'restored since: check at the service whether it was done, then start a new run'],
    ['not_started', 'Frozen', 'frozen by "x" until 2027, or start again with --override-freeze x'],
    ['not_started', 'ApprovalExpired', 'it was not approved in time, 0 of 1 (production): start it again'],
  ] as const)
    assert.equal(nextOf(outcome, type, message), undefined);
});

test('a rollout that did not start some servers names the command that retries them', () => {
  const nextOf = (type: ErrorType, message: string) =>
    rolloutLines({
      ...emptyRollout({ workflowId: 'rollout:steady:k' }),
      outcome: 'not_started',
      error: { type, message },
    }).find((line) => line.startsWith('  next: '));
  const retry = '  next: `belay rollout retry rollout:steady:k`';
  assert.equal(
    nextOf('Frozen', 'server 12: frozen by "x" until 2027'),
    `${retry} after the freeze: \`belay freezes\` shows when that ends`,
  );
  assert.equal(
    nextOf('Busy', 'stopped: server 13 of wave half is held'),
    `${retry} starts the servers that are not completed again`,
  );
  assert.equal(
    nextOf('ApprovalExpired', 'it was not approved in time, 0 of 1 (production): start it again'),
    `${retry} starts the servers that are not completed again`,
  );
});

test('a stopped rollout gives its reason once, and not again for each server that it did not start', () => {
  const gate = { type: 'GateFailed', message: 'stopped: gate errors after wave canary failed' } as const;
  const own = { type: 'DeploymentFailed', message: 'the deployment of site a1 failed' } as const;
  const target = (serverId: string, it: Partial<TargetResult>): TargetResult => ({
    ...{ serverId, wave: 'canary', outcome: null, workflowId: null, backup: null, deployments: [], error: null },
    ...{ heldByEvent: null, startedAt: null, endedAt: null, ...it },
  });
  const targets = [
    target('1', { outcome: 'failed', error: own, startedAt }),
    target('2', { outcome: 'not_started', error: gate }),
    target('3', { outcome: 'not_started', error: { type: 'Busy', message: 'server 3 is held' } }),
  ];
  const lines = rolloutLines({ ...emptyRollout(), outcome: 'failed', error: gate, targets }).map(plain);
  assert.deepEqual(
    lines.filter((line) => line.startsWith('  server ')),
    [
      '  server 1 (canary): failed: the deployment of site a1 failed',
      '  server 2 (canary): not_started',
      '  server 3 (canary): not_started: server 3 is held',
    ],
  );
});

test('a rollout gives the reason of a decision once, if its error or what it waits for gives it too', () => {
  const decision = (action: 'pause' | 'stop', reason: string) => ({ at: startedAt, action, by: 'freeze:x', reason });
  const lines = (it: Partial<RolloutResult>, now: string | null = null) =>
    rolloutLines({ ...emptyRollout(), ...it }, [], now).filter((line) => line.includes(' by '));
  const frozen = 'server 12: frozen by "x" until 2027';
  assert.deepEqual(
    lines({
      outcome: 'not_started',
      error: { type: 'Frozen', message: frozen },
      decisions: [decision('pause', 'the shop is slow'), decision('stop', frozen)],
    }),
    [`  ${frozen}`, `  ${startedAt} pause by freeze:x: the shop is slow`, `  ${startedAt} stop by freeze:x`],
  );
  assert.deepEqual(lines({ phase: 'paused', decisions: [decision('pause', frozen)] }, `paused because "${frozen}"`), [
    `  ${startedAt} pause by freeze:x`,
  ]);
});

test('a rollout that no worker has taken up shows no counts', () => {
  const lines = rolloutLines(emptyRollout({ workflowId: 'rollout:steady:k' }));
  assert.deepEqual(lines, ['in progress', '  rollout: rollout:steady:k']);
});

test('a key that was used says what had been started, and how to start it again', () => {
  const ended = { attached: true, endedAt: startedAt, workflowId: 'rollout:steady:k' };
  const note = (outcome: Outcome, what: string) => joinedNote({ ...ended, outcome }, what, Date.parse(startedAt) + 1);
  const prefix = (what: string) => `This key's ${what} ended at ${startedAt}: nothing was started;`;
  assert.equal(note('completed', 'run'), `${prefix('run')} another key starts a new run.`);
  assert.equal(note('failed', 'run'), `${prefix('run')} --again or another key starts a new run.`);
  assert.equal(
    note('failed', 'rollout'),
    `${prefix('rollout')} \`belay rollout retry rollout:steady:k\` starts what is not completed again, and another key a new rollout.`,
  );
  const inFlight = { ...ended, endedAt: null, outcome: null };
  assert.match(
    joinedNote(inFlight, 'rollout', 0) ?? '',
    /^This key's rollout had been started before: .* in flight\.$/,
  );
  assert.equal(joinedNote({ ...inFlight, attached: false }, 'rollout', 0), null);
});
