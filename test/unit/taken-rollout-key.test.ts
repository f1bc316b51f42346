/** What a start does if its key is taken by a rollout that has no memo, because no Belay started it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { defaultDataConverter, defaultPayloadConverter } from '@temporalio/common';
import type { Session } from '../../src/client/session.ts';
import { leftOfOverride } from '../../src/features/freezes/client.ts';
import { createRollouts } from '../../src/features/rollouts/client.ts';
import type { RolloutInput } from '../../src/features/rollouts/shapes.ts';

const SERVICE = 'https://panel.example';
const REQUEST: RolloutInput = {
  ...{ name: 'steady', fleet: 'shop', key: 'k', maxAtOnce: 2, maxFailures: 0, onFailures: 'stop' },
  waves: [{ name: 'all', targets: [{ serverId: 's1', siteIds: ['a1'] }] }],
};
const WORKFLOW_ID = 'rollout:steady:k';

/** @param input with which the rollout was started that has the key */
function startBeside(input: unknown) {
  const started = { input: { payloads: [defaultPayloadConverter.toPayload(input)] } };
  const history = { events: [{ workflowExecutionStartedEventAttributes: started }] };
  const workflow = {
    start: () => Promise.reject(new WorkflowExecutionAlreadyStartedError('taken', WORKFLOW_ID, 'rollOut')),
    getHandle: (workflowId: string) => ({
      describe: () => Promise.resolve({ workflowId, runId: 'run-1', type: 'rollOut', memo: {} }),
    }),
  };
  const client = {
    workflow,
    workflowService: { getWorkflowExecutionHistory: () => Promise.resolve({ history }) },
    options: { namespace: 'default', loadedDataConverter: defaultDataConverter },
    withDeadline: (_untilMs: number, act: () => Promise<unknown>) => act(),
  };
  const seen = { pollers: [{ identity: 'worker', version: null }], current: [null] };
  const session = {
    ...{ client, taskQueue: 'belay', encrypts: false, service: SERVICE, by: 'ann', tracing: null, uiUrl: null },
    workers: () => Promise.resolve(seen),
  } as unknown as Session;
  return createRollouts(session, leftOfOverride).start(REQUEST);
}

test('a start attaches to a rollout without a memo that has its key and was started with the same input', async () => {
  for (const input of [
    { ...REQUEST, service: SERVICE },
    { ...REQUEST, epoch: '1', meta: { job: '7' } },
  ]) {
    const { workflowId, runId, attached } = await startBeside(input);
    assert.deepEqual([workflowId, runId, attached], [WORKFLOW_ID, 'run-1', true]);
  }
});

test('a start is refused beside a rollout without a memo that has its key and was started with another input', async () => {
  for (const input of [{ ...REQUEST, maxAtOnce: 3 }, { ...REQUEST, service: 'https://other.example' }, null, 'text'])
    await assert.rejects(startBeside(input), {
      type: 'KeyReused',
      message: `${WORKFLOW_ID} was started with other input: use another key, or repeat the same input`,
    });
});

test('a start says that it cannot compare itself with the first attempt of a rollout that was started again without a memo', async () => {
  await assert.rejects(startBeside({ ...REQUEST, attempt: 2 }), {
    type: 'KeyReused',
    message:
      `attempt 2 of ${WORKFLOW_ID} was started without a memo, so its first input is not known: ` +
      `wait for it with \`belay wait ${WORKFLOW_ID}\`, or use another key`,
  });
});
