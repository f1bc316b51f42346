/** A start whose key already has a run: the same request attaches to it, and another one is refused. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { startRun } from '../../src/client/runs/start-run.ts';
import type { Session } from '../../src/client/session.ts';
import type { RunInput } from '../../src/contract/run.ts';

const asked: RunInput = { siteIds: ['34'] };

/** @param before the input that the run of the key was started with */
function startAfter(before: RunInput, input: RunInput) {
  const taken = new WorkflowExecutionAlreadyStartedError('taken', 'deploy:34:k', 'deployOnly');
  const session = {
    ...{ uiUrl: null, namespace: 'default', taskQueue: 'belay', by: 'ana', encrypts: false, tracing: null },
    workers: () => Promise.resolve({ pollers: [{ identity: 'w', version: null }], current: [null] }),
    client: {
      workflow: {
        start: () => Promise.reject(taken),
        getHandle: () => ({ describe: () => Promise.resolve({ runId: 'r1', memo: { input: before } }) }),
      },
      withDeadline: (_untilMs: number, act: () => Promise<unknown>) => act(),
    },
  } as unknown as Session;
  return startRun(session, input, { key: 'k' });
}

describe('a run under a taken key', () => {
  test('is the one that was started before, if the same was asked for', async () => {
    const { runId, attached } = await startAfter({ ...asked, fleet: 'shop' }, { ...asked, fleet: 'shop' });
    assert.deepEqual([runId, attached], ['r1', true]);
  });

  for (const [what, before, input] of [
    ['names a fleet, and the one before named none', asked, { ...asked, fleet: 'shop' }],
    ['names another fleet', { ...asked, fleet: 'blog' }, { ...asked, fleet: 'shop' }],
  ] as const)
    test(`is refused if it ${what}, because a fleet adds freezes and approvals`, async () => {
      await assert.rejects(startAfter(before, input), {
        type: 'KeyReused',
        message: 'deploy:34:k was started with other input: use another key, or repeat the same input',
      });
    });
});
