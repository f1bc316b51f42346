/** What a client does about a rollout that has ended, although Temporal stops answering or someone retries it meanwhile. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ApplicationFailure, TerminatedFailure, WorkflowFailedError } from '@temporalio/client';
import { defaultPayloadConverter, TypedSearchAttributes } from '@temporalio/common';
import { leftOfOverride } from '../../src/features/freezes/client.ts';
import { createRollouts, nextAttempt } from '../../src/features/rollouts/client.ts';
import { createRollout, lookUpServerRun } from '../../src/features/rollouts/client-handle.ts';
import type { Session } from '../../src/client/session.ts';
import { BelayError, exitCodeOf } from '../../src/contract/errors.ts';
import { emptyBackup, emptyDeployment, emptyResult, emptyRollout } from '../../src/contract/results.ts';
import type { Outcome } from '../../src/contract/names.ts';
import type { RunResult } from '../../src/contract/run.ts';
import { siteTarget } from '../../src/contract/target.ts';
import type { RolloutInput } from '../../src/features/rollouts/shapes.ts';
import { rolloutOf } from '../support/rollouts.ts';
import { targetResult } from '../support/target-result.ts';
import { GRPC } from '../../src/client/transport/grpc-errors.ts';

const workflowId = 'rollout:steady:k';
const unavailable = Object.assign(new Error('down'), { code: GRPC.unavailable, details: 'down', metadata: {} });
const typedSearchAttributes = new TypedSearchAttributes();
const running = {
  typedSearchAttributes,
  type: 'rollOut',
  status: { name: 'RUNNING' },
  workflowId,
  runId: 'r2',
  startTime: new Date(),
};

const failed = (cause: Error) => new WorkflowFailedError('failed', cause, 'NON_RETRYABLE_FAILURE');
const GATE = failed(
  ApplicationFailure.create({
    ...{ type: 'GateFailed', message: 'gate errors: 3 %', nonRetryable: true },
    details: [
      emptyRollout({
        workflowId,
        runId: 'r1',
        outcome: 'failed',
        error: { type: 'GateFailed', message: 'gate errors: 3 %' },
      }),
    ],
  }),
);
const TERMINATED = failed(new TerminatedFailure('by hand'));

/** @param later what Temporal answers once the rollout has ended */
async function wait(failure: Error, later: () => Promise<unknown>): Promise<BelayError> {
  let hasEnded = false;
  const handle = {
    workflowId,
    describe: () => (hasEnded ? later() : Promise.resolve(running)),
    result: () => ((hasEnded = true), Promise.reject(failure)),
    query: () => Promise.reject(unavailable),
  };
  const client = {
    workflow: { getHandle: () => handle },
    withDeadline: (_untilMs: number, act: () => Promise<unknown>) => act(),
  };
  const session = { uiUrl: null, namespace: 'default', client } as unknown as Session;
  const rollout = createRollout(session, { workflowId, runId: null, attached: true });
  return rollout.result().then(
    () => assert.fail('it did not fail'),
    (error: unknown) => (assert.ok(error instanceof BelayError), error),
  );
}

describe('a rollout that failed while a client waited', () => {
  for (const [what, later] of [
    ['Temporal stops answering', () => Promise.reject(unavailable)],
    ['someone retries it', () => Promise.resolve(running)],
  ] as const) {
    test(`keeps its verdict if ${what} at that moment`, async () => {
      const error = await wait(GATE, later);
      const { type, rollout } = error;
      assert.deepEqual([type, exitCodeOf(error), rollout?.outcome, rollout?.runId], ['GateFailed', 1, 'failed', 'r1']);
    });

    test(`is unknown if it was terminated and ${what} at that moment`, async () => {
      const error = await wait(TERMINATED, later);
      const { type, message, rollout } = error;
      assert.deepEqual([type, exitCodeOf(error), rollout?.outcome], ['Terminated', 4, 'unknown']);
      assert.equal(message, 'the rollout was terminated: by hand');
    });
  }
});

test('a wait for a rollout that is stopped ends soon, although Temporal does not answer', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const handle = { workflowId, describe: () => new Promise(() => setImmediate(() => context.mock.timers.tick(1_500))) };
  const session = { uiUrl: null, client: { workflow: { getHandle: () => handle } } } as unknown as Session;
  const rollout = createRollout(session, { workflowId, runId: 'r1', attached: false });
  await assert.rejects(rollout.result({ signal: AbortSignal.abort() }), (error) => exitCodeOf(error) === 124);
});

describe('a server whose run was already started by hand', () => {
  const site = (id: string, outcome: Outcome) => ({ target: siteTarget(id), siteId: id, outcome });
  const recorded = targetResult({
    ...{ workflowId: 'backup-then-deploy:12:steady.k', outcome: 'unknown', startedAt: '', endedAt: '' },
    deployments: [site('34', 'unknown'), site('35', 'completed')],
    error: { type: 'OutcomeUnknown', message: 'it was already started' },
  });

  async function foundFor(run: Partial<RunResult>) {
    const described = { ...running, type: 'backupThenDeploy', status: { name: 'COMPLETED' } };
    const result = emptyResult({
      outcome: 'completed',
      backup: { ...emptyBackup('12'), outcome: 'completed' },
      ...run,
    });
    const handle = { describe: () => Promise.resolve(described), result: () => Promise.resolve(result) };
    const session = { client: { workflow: { getHandle: () => handle } } } as unknown as Session;
    return (await lookUpServerRun(session, recorded)).target;
  }
  const deployed = (id: string) => ({ ...emptyDeployment(siteTarget(id)), outcome: 'completed' as const });

  for (const [what, run] of [
    ['other sites', { deployments: [deployed('36')] }],
    ['no site', { deployments: [] }],
    ['the sites without a backup', { deployments: [deployed('34')], backup: null }],
    ['the sites with the backup of another server', { deployments: [deployed('34')], backup: emptyBackup('99') }],
  ] as const)
    test(`is not completed by a run for ${what}, and a retry takes it`, async () => {
      const target = await foundFor({ ...run, deployments: [...run.deployments] });
      assert.deepEqual([target.outcome, target.error], [recorded.outcome, recorded.error]);
      const input = rolloutOf([{ serverId: '12', siteIds: ['34', '35'] }]);
      const [next] = nextAttempt(input, { targets: [target] }, {}).waves[0]?.targets ?? [];
      assert.deepEqual([next?.serverId, next?.siteIds], ['12', ['34']]);
    });

  test('is completed by a run for what was left of it', async () => {
    const target = await foundFor({ deployments: [deployed('34'), deployed('36')] });
    assert.deepEqual([target.outcome, target.backup, target.error], ['completed', 'completed', null]);
    assert.deepEqual(
      target.deployments.map(({ outcome }) => outcome),
      ['completed', 'completed'],
    );
  });
});

describe('the retry of a rollout', () => {
  const [first, second] = ['12', '13'].map((serverId) => ({ serverId, siteIds: [`a${serverId}`] }));
  const inputs: Record<string, RolloutInput> = {
    r1: rolloutOf([first!, second!]),
    r2: { ...rolloutOf([second!]), attempt: 2 },
  };
  const targets = ['12', '13'].map((serverId) => targetResult({ serverId, wave: 'all', outcome: 'failed' }));

  /** Retries a rollout whose first attempt failed. @returns what is started @param described each answer of Temporal */
  async function retry(described: object[]): Promise<RolloutInput | undefined> {
    const started: { args: [RolloutInput] }[] = [];
    const failure = failed(
      ApplicationFailure.create({ type: 'BackupFailed', details: [emptyRollout({ outcome: 'failed', targets })] }),
    );
    const workflow = {
      getHandle: () => ({ describe: () => Promise.resolve(described.shift()), result: () => Promise.reject(failure) }),
      start(_type: string, options: { args: [RolloutInput] }) {
        started.push(options);
        return Promise.resolve({ firstExecutionRunId: 'r3' });
      },
    };
    const getWorkflowExecutionHistory = ({ execution: { runId } }: { execution: { runId: string } }) => {
      const input = { payloads: [defaultPayloadConverter.toPayload(inputs[runId])] };
      return Promise.resolve({ history: { events: [{ workflowExecutionStartedEventAttributes: { input } }] } });
    };
    const session = {
      ...{ uiUrl: null, namespace: 'default', taskQueue: 'belay', by: 'ana', encrypts: false, tracing: null },
      workers: () => Promise.resolve({ pollers: [{ identity: 'w', version: null }], current: [null] }),
      client: {
        ...{ workflow, workflowService: { getWorkflowExecutionHistory } },
        options: {
          namespace: 'default',
          loadedDataConverter: { payloadConverter: defaultPayloadConverter, payloadCodecs: [] },
        },
        withDeadline: (_untilMs: number, act: () => Promise<unknown>) => act(),
      },
    } as unknown as Session;
    await createRollouts(session, leftOfOverride).retry(workflowId);
    return started[0]?.args[0];
  }

  const ended = (runId: string) => ({ ...running, status: { name: 'FAILED' }, runId });

  test('goes by one attempt, although another one ends meanwhile', async () => {
    const input = await retry([ended('r1'), ended('r2')]);
    // The ids of its runs are those of the other attempt, so nothing is deployed twice.
    assert.equal(input?.attempt, 2);
  });

  test('is possible if another program started it without the notes of a starter', async () => {
    assert.equal((await retry([ended('r1')]))?.attempt, 2);
  });
});
