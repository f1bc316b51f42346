import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { ApplicationFailure } from '@temporalio/common';
import { WorkflowFailedError } from '@temporalio/client';
import type { RolloutInput, TargetResult } from '../../../src/contract/rollout.ts';
import { rolloutId } from '../../../src/contract/ids/workflow-ids.ts';
import { validateRolloutInput } from '../../../src/request/validate-rollout-input.ts';
import { resolveCount } from '../../../src/config/file/schema-values.ts';
import { nextStep } from '../../../src/workflows/rules/rollout-step.ts';
import { eventually } from '../../support/eventually.ts';
import { began } from '../../support/journal.ts';
import { endOf, outcomesOf, rolloutOf, servers } from '../../support/rollouts.ts';
import { sharedStack } from '../../support/shared-stack.ts';
import { fresh, TASK_QUEUE, type TestStack } from '../../support/world.ts';
import { MAX_TARGETS } from '../../../src/request/limits.ts';

let world: TestStack;
before(async () => {
  world = await sharedStack({ backup: { durationMs: 300 }, deployment: { durationMs: 300 } });
});

const ANNE = { by: 'anne', reason: 'looked at it' };
const handleOf = (workflowId: string) => world.client.workflow.getHandle(workflowId);
const hold = (workflowId: string, serverId: string) =>
  handleOf(workflowId).signal('hold', { serverId, event: fresh('event:panel:'), reason: 'an alert fired' });

function inWaves(more: Partial<RolloutInput> = {}) {
  const [first, canary, left] = servers(3);
  const waves = [
    { name: 'canary', targets: [first, canary!] },
    { name: 'rest', targets: [left!] },
  ];
  world.sandbox.script({ server: first.serverId }, { ends: 'never' });
  return { first, canary: canary!, left: left!, input: rolloutOf([], { waves, maxAtOnce: 1, ...more }) };
}

describe('a rollout', { concurrency: 6 }, () => {
  test('a rollout stops before the next wave if its canary is held', async () => {
    const { first, canary, left, input } = inWaves();
    const rollout = await world.belay.rollouts.start(input);
    await eventually('the backup', () => began(world.sandbox, 'backup', first.serverId).length === 1);
    await hold(rollout.workflowId, canary.serverId);
    world.sandbox.finish({ server: first.serverId }, 'completed');
    const result = await endOf(rollout);
    assert.deepEqual(outcomesOf(result), ['completed', 'not_started', 'not_started']);
    assert.match(result.error?.message ?? '', /^stopped: server s\d+ of wave canary is held; server/);
    assert.equal(result.error?.type, 'Busy');
    assert.equal(began(world.sandbox, 'backup', left.serverId).length, 0);
  });

  test('a rollout with onFailures pause pauses if its canary is held and resumes without it', async () => {
    const { first, canary, input } = inWaves({ onFailures: 'pause' });
    const rollout = await world.belay.rollouts.start(input);
    await eventually('the backup', () => began(world.sandbox, 'backup', first.serverId).length === 1);
    await hold(rollout.workflowId, canary.serverId);
    world.sandbox.finish({ server: first.serverId }, 'completed');
    const { waiting } = await eventually('the pause', async () => {
      const status = await rollout.status();
      return status.result.phase === 'paused' ? status : null;
    });
    assert.ok(waiting?.kind === 'decision');
    assert.match(waiting.reason, /^server s\d+ of wave canary is held$/);
    await rollout.resume(ANNE);
    const result = await endOf(rollout);
    assert.deepEqual(outcomesOf(result), ['completed', 'not_started', 'completed']);
    assert.deepEqual([result.outcome, result.error?.type], ['not_started', 'Busy']);
    assert.equal(began(world.sandbox, 'backup', canary.serverId).length, 0);
  });

  test('a rollout with onFailures pause pauses if its last server is held and continues when that server is released', async () => {
    const [first, ...held] = servers(2);
    world.sandbox.script({ server: first.serverId }, { ends: 'never' });
    const input = rolloutOf([first, ...held], { maxAtOnce: 1, onFailures: 'pause' });
    const rollout = await world.belay.rollouts.start(input);
    await eventually('the backup', () => began(world.sandbox, 'backup', first.serverId).length === 1);
    await hold(rollout.workflowId, held[0]!.serverId);
    world.sandbox.finish({ server: first.serverId }, 'completed');
    await eventually('the pause', async () => (await rollout.status()).result.phase === 'paused');
    await rollout.resume({ ...ANNE, serverId: held[0]!.serverId });
    const result = await endOf(rollout);
    assert.deepEqual(outcomesOf(result), ['completed', 'completed']);
    assert.deepEqual(
      result.decisions.map(({ action }) => action),
      ['hold', 'pause', 'release', 'resume'],
    );
  });

  test('a rollout aborted with no server left to start ends with the outcome of its servers', async () => {
    const [target] = servers(1);
    world.sandbox.script({ server: target.serverId }, { ends: 'never' });
    const rollout = await world.belay.rollouts.start(rolloutOf([target]));
    await eventually('the backup', () => began(world.sandbox, 'backup', target.serverId).length === 1);
    await rollout.abort(ANNE);
    world.sandbox.finish({ server: target.serverId }, 'completed');
    assert.equal((await endOf(rollout)).outcome, 'completed');
  });

  test('a rollout with no server left to start does not pause', async () => {
    const [target] = servers(1);
    world.sandbox.script({ server: target.serverId }, { durationMs: 300, ends: 'failed' });
    const result = await endOf(await world.belay.rollouts.start(rolloutOf([target], { onFailures: 'pause' })));
    assert.deepEqual(
      result.decisions.map(({ action }) => action),
      ['stop'],
    );
  });

  test('a rollout ignores malformed signals and rejects malformed updates', async () => {
    const [target] = servers(1);
    world.sandbox.script({ server: target.serverId }, { ends: 'never' });
    const rollout = await world.belay.rollouts.start(rolloutOf([target]));
    const { workflowId } = rollout;
    for (const garbage of [null, 5, 'x', [], { serverId: target.serverId, event: { toString: 1 }, reason: 5 }]) {
      await handleOf(workflowId).signal('hold', garbage);
      await assert.rejects(handleOf(workflowId).executeUpdate('pause', { args: [garbage] }));
    }
    await eventually('the backup', () => began(world.sandbox, 'backup', target.serverId).length === 1);
    world.sandbox.finish({ server: target.serverId }, 'completed');
    assert.equal((await endOf(rollout)).outcome, 'completed');
  });

  test('a rollout and the retry of another key share no run', async () => {
    const [target] = servers(1);
    world.sandbox.script({ server: target.serverId }, { durationMs: 100, ends: 'failed' }, { durationMs: 100 });
    const key = fresh('k');
    await endOf(await world.belay.rollouts.start(rolloutOf([target], { key })));
    assert.equal((await endOf(await world.belay.rollouts.retry(rolloutId('steady', key)))).outcome, 'completed');
    for (const other of [`${key}.2`, `${key}~2`]) {
      const result = await endOf(await world.belay.rollouts.start(rolloutOf([target], { key: other })));
      assert.equal(result.outcome, 'completed', result.error?.message);
    }
    assert.equal(began(world.sandbox, 'backup', target.serverId).length, 4);
  });
});

const TARGET = { serverId: 's1', siteIds: ['a1'] };
const WRONG: [string, unknown, RegExp][] = [
  ['nothing', null, /not an object/],
  ['a name with a dot', { name: 'a.b' }, /^name: must be/],
  ['an empty key', { key: '' }, /^key: is empty/],
  ['too many at once', { maxAtOnce: 201 }, /^maxAtOnce: must be a whole number from 1 to 200/],
  ['a fractional limit of failures', { maxFailures: 0.5 }, /^maxFailures: /],
  ['an unknown reaction', { onFailures: 'ask' }, /^onFailures: /],
  ['options with a server id', { options: { serverId: 's9' } }, /^options.serverId: is not an option/],
  ['malformed options', { options: 5 }, /^options: /],
  ['malformed results', { previousResults: [null] }, /^previousResults: /],
  ['no waves', { waves: [] }, /^waves: /],
  ['malformed waves', { waves: [null] }, /^waves\[0\].name: /],
  ['malformed targets', { waves: [{ name: 'w', targets: [null] }] }, /^waves\[0\].targets\[0\]: /],
  [
    'a malformed list of completed targets',
    { waves: [{ name: 'w', targets: [{ ...TARGET, completedTargets: 5 }] }] },
    /completedTargets: /,
  ],
  ['a server twice', { waves: [{ name: 'w', targets: [TARGET, TARGET] }] }, /names server s1 twice/],
  ['waves with equal names', { waves: [1, 2].map(() => ({ name: 'w', targets: [] })) }, /another wave has the name w/],
  ['too many sites', { waves: [{ name: 'w', targets: servers(MAX_TARGETS + 1) }] }, /1001 targets, at most 1000/],
];

for (const [what, change, message] of WRONG) {
  test(`the workflow and the client reject a rollout with ${what}`, async () => {
    const input = change === null ? null : { ...rolloutOf([TARGET]), ...(change as object) };
    assert.match(validateRolloutInput(input) ?? 'taken', message);
    const options = { workflowId: fresh('wrong'), taskQueue: TASK_QUEUE, workflowExecutionTimeout: '20 s' } as const;
    const error: unknown = await world.client.workflow
      .execute('rollOut', { ...options, args: [input] })
      .catch((it: unknown) => it);
    assert.ok(error instanceof WorkflowFailedError && error.cause instanceof ApplicationFailure, String(error));
    assert.equal(error.cause.type, 'Usage');
  });
}

test('a percentage is rounded down without floating-point errors', () => {
  assert.deepEqual(
    [resolveCount('64.6%', 500), resolveCount('18.4%', 375), resolveCount('3%', 10), resolveCount(4, 3)],
    [323, 69, 0, 4],
  );
});

test('a server released late starts before the next wave', () => {
  const target = (serverId: string, wave: string, more: Partial<TargetResult> = {}): TargetResult => ({
    ...{
      serverId,
      wave,
      outcome: null,
      workflowId: null,
      backup: null,
      deployments: [],
      error: null,
      heldByEvent: null,
    },
    ...{ startedAt: null, endedAt: null, ...more },
  });
  const [late, next] = [target('s1', 'canary'), target('s2', 'rest')];
  const running = target('s3', 'canary', { startedAt: 'now' });
  const step = (targets: TargetResult[]) => nextStep({ targets, maxAtOnce: 5, phase: 'running', onFailures: 'stop' });
  assert.deepEqual(step([running, late, next]), { kind: 'begin', target: late });
  assert.deepEqual(step([running, { ...late, heldByEvent: 'e' }, next]), { kind: 'wait' });
  assert.deepEqual(
    step([
      { ...late, heldByEvent: 'e' },
      { ...next, heldByEvent: 'e' },
    ]),
    { kind: 'end' },
  );
});
