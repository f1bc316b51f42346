/** What a wait that its caller stops says of what it waited for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRun } from '../../src/client/runs/run-handle.ts';
import type { Session } from '../../src/client/session.ts';
import { emptyResult, emptyRollout } from '../../src/contract/results.ts';
import { createRollout } from '../../src/features/rollouts/client-handle.ts';

const IDS = { workflowId: 'deploy:34:k', runId: null, attached: true };

/** A session that sees one workflow, in this state. */
function sessionWith(type: string, status: string): Session {
  const result = type === 'rollOut' ? emptyRollout({ outcome: 'completed' }) : emptyResult({ outcome: 'completed' });
  const typedSearchAttributes = new Map();
  const described = { type, status: { name: status }, typedSearchAttributes, startTime: new Date(0), historyLength: 2 };
  const handle = {
    workflowId: IDS.workflowId,
    describe: () => Promise.resolve({ ...described, raw: {} }),
    result: () => Promise.resolve(result),
    query: () => Promise.reject(new Error('no worker answers')),
  };
  const withDeadline = (_: unknown, ask: () => Promise<unknown>) => ask();
  return { uiUrl: null, client: { withDeadline, workflow: { getHandle: () => handle } } } as unknown as Session;
}

for (const [what, type, create] of [
  ['run', 'deployOnly', createRun],
  ['rollout', 'rollOut', createRollout],
] as const) {
  test(`a wait that is stopped says that the ${what} continues only if it has not ended`, async () => {
    const stoppedIn = (status: string) =>
      create(sessionWith(type, status), IDS).result({ signal: AbortSignal.abort() });
    const again = 'wait again with `belay wait deploy:34:k`';
    const continues = `stopped waiting, the ${what} continues; ${again}`;
    await assert.rejects(stoppedIn('RUNNING'), { type: 'StoppedWaiting', message: continues });
    await assert.rejects(stoppedIn('COMPLETED'), { type: 'StoppedWaiting', message: `stopped waiting; ${again}` });
  });
}
