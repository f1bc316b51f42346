/** The list of events in a namespace in which a person has started something under their type. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Session } from '../../src/client/session.ts';
import { lost, WHY_LOST } from '../support/lost-key.ts';
import { listEvents, type ReceivedEvent } from '../../src/features/events/client.ts';

const startTime = new Date('2026-11-27T12:00:00Z');
const NAMED = { rawKind: null, serverId: null, siteId: null, backupId: null, at: null };
const event = { kind: 'unknown', ...NAMED };
const memo = { source: 'panel', verified: true, receivedAt: startTime.toISOString(), event };
/** As Temporal answers about a workflow without a memo. */
const BY_HAND = { workflowId: 'by hand', startTime, memo: {} };

interface Listed {
  workflowId: string;
  startTime: Date;
  memo: object | undefined;
}

function listedBy(all: readonly (Listed | (() => Promise<Listed>))[], limit?: number): Promise<ReceivedEvent[]> {
  const workflow = {
    async *list() {
      for (const it of all) yield await (typeof it === 'function' ? it() : it);
    },
  };
  const withDeadline = (_untilMs: number, act: () => Promise<unknown>) => act();
  const session = { client: { workflow, withDeadline } } as unknown as Session;
  return listEvents(session, limit === undefined ? {} : { limit });
}

const received = (index: number) => ({ workflowId: `event:panel:${index}`, startTime, memo });

test('the list of events leaves out what a person started in the UI', async () => {
  const others = [{}, { note: 'test' }, { event: {} }, { ...memo, event: 'text' }, { event, source: 'panel' }];
  const byHand = others.map((it) => ({ ...BY_HAND, memo: it }));
  assert.deepEqual(await listedBy([...byHand, received(1)]), [{ workflowId: 'event:panel:1', ...memo }]);
});

test('the list of events has as many as were asked for, however many a person started in the UI', async () => {
  const all = Array.from({ length: 3_000 }, (_, index) => (index % 3 === 0 ? received(index) : BY_HAND));
  const ids = (await listedBy(all, 3)).map(({ workflowId }) => workflowId);
  assert.deepEqual(ids, ['event:panel:0', 'event:panel:3', 'event:panel:6']);
  assert.equal((await listedBy([BY_HAND, received(1)], 1)).length, 1);
});

test('the list of events names one that it cannot decode, with the reason', async () => {
  const unread = async () => ({ workflowId: 'event:panel:2', startTime, memo: await lost() });
  const [first, second, ...rest] = await listedBy([unread, received(1)]);
  assert.deepEqual(rest, []);
  assert.deepEqual([first?.workflowId, first?.receivedAt], ['event:panel:2', startTime.toISOString()]);
  assert.deepEqual([first?.verified, first?.event.kind, first?.unreadable], [false, 'unknown', WHY_LOST]);
  assert.deepEqual(second, { workflowId: 'event:panel:1', ...memo });
});
