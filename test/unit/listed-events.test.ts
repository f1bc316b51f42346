/** The list of events in a namespace in which a person has started something under their type. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Session } from '../../src/client/session.ts';
import { listEvents } from '../../src/features/events/client.ts';

test('the list of events leaves out what a person started in the UI', async () => {
  const startTime = new Date();
  const event = { kind: 'unknown', rawKind: null, serverId: null, siteId: null, backupId: null, at: null };
  const memo = { source: 'panel', verified: true, receivedAt: startTime.toISOString(), event };
  const workflow = {
    async *list() {
      yield* await Promise.resolve([
        // As Temporal answers about a workflow without a memo.
        { workflowId: 'by hand', startTime, memo: {} },
        { workflowId: 'event:panel:1', startTime, memo },
      ]);
    },
  };
  const withDeadline = (_untilMs: number, act: () => Promise<unknown>) => act();
  const session = { client: { workflow, withDeadline } } as unknown as Session;
  assert.deepEqual(await listEvents(session, {}), [{ workflowId: 'event:panel:1', ...memo }]);
});
