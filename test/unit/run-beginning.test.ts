/** What those who follow a run see of it before its first operation. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TypedSearchAttributes } from '@temporalio/common';
import { liveLine } from '../../src/cli/follow.ts';
import { followProgress } from '../../src/client/runs/run-progress.ts';
import type { Session } from '../../src/client/session.ts';
import { emptyResult } from '../../src/contract/results.ts';
import type { RunProgress } from '../../src/contract/run.ts';
import type { WaitingForApproval } from '../../src/contract/waiting.ts';

const workflowId = 'backup-then-deploy:12:k';
const WAITING: WaitingForApproval = {
  ...{ kind: 'approval', workflowId, plan: '9f2c1ab4d0e17788', since: '2026-11-25T12:00:00.000Z' },
  asked: [{ name: 'production', need: 1, by: [], from: null, proof: 'ssh' }],
  until: '2026-11-26T12:00:00.000Z',
};
const ASKS: RunProgress = { result: emptyResult({ phase: 'approval' }), waiting: WAITING, operation: null };

/** What a command in a log prints of a run of which Temporal records so much. */
async function lineOf(historyLength: number, raw: object) {
  const described = {
    ...{ workflowId, runId: 'r1', type: 'backupThenDeploy', status: { name: 'RUNNING' }, memo: {} },
    ...{ typedSearchAttributes: new TypedSearchAttributes([]), startTime: new Date(), historyLength, raw },
  };
  const handle = { describe: () => Promise.resolve(described), query: () => Promise.resolve(ASKS) };
  const client = { workflow: { getHandle: () => handle }, withDeadline: <T>(_: unknown, call: () => T) => call() };
  const session = { client, namespace: 'default', uiUrl: null, workers: () => Promise.resolve({ pollers: [] }) };
  return liveLine(await followProgress(session as unknown as Session, handle as never)(), false);
}

test('a run that asks people says so, with the command that approves it, however short its history is', async () => {
  for (const events of [5, 11, 12, 40])
    assert.equal(
      await lineOf(events, {}),
      'waits for 1 approval (production) until 2026-11-26T12:00:00.000Z: ' +
        `\`belay approve ${workflowId} --plan 9f2c1ab4d0e1\``,
    );
});

test('a run of which a worker executes a first step is starting, unless that step is its wait for admission', async () => {
  const doing = (name: string) => lineOf(8, { pendingActivities: [{ activityType: { name } }] });
  assert.equal(await doing('describeWorker'), 'starting');
  assert.equal(await lineOf(3, { pendingWorkflowTask: { attempt: 1 } }), 'starting');
  assert.match(await doing('admitRun'), /^waits for 1 approval/);
});
