import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textOf } from '../../src/features/notifications/worker-channels.ts';
import type { Notification } from '../../src/features/notifications/shapes.ts';
import { standInReceiver } from '../support/stand-in-receiver.ts';

const HOUR_MS = 3_600_000;

/** How long after its receipt an event that happened an hour ago is fresh. */
async function freshForMs(fields: object, freshFor?: number): Promise<number> {
  const sources = { open: { verify: 'none' as const, fields } };
  const { app, stored } = await standInReceiver({ events: { sources, ...(freshFor !== undefined && { freshFor }) } });
  const payload = JSON.stringify({ type: 'x', created_at: new Date(Date.now() - HOUR_MS).toISOString() });
  const headers = { 'content-type': 'application/json', host: 'localhost' };
  assert.equal((await app.inject({ method: 'POST', url: '/webhooks/open', headers, payload })).statusCode, 202);
  return stored[0]!.event.freshForMs;
}

test('an event that the sender delivers late is late on arrival, by the time in its configured field', async () => {
  assert.ok((await freshForMs({ time: 'created_at' })) <= 0);
  assert.ok((await freshForMs({ time: 'created_at' }, 2 * HOUR_MS)) <= HOUR_MS);
});

test('a time under a likely name makes no event late, because it may be that of something else', async () => {
  assert.equal(await freshForMs({}, HOUR_MS / 2), HOUR_MS / 2);
});

test('the notification of a late event mentions that nothing else follows', () => {
  const event = { kind: 'alert.fired', rawKind: null, serverId: '12', siteId: null, backupId: null, at: null } as const;
  const about = { kind: 'event', id: '', source: 'panel', verified: true, receivedAt: '2026-01-01T02:10:00Z' } as const;
  const late: Notification = { ...about, event, late: true };
  assert.equal(textOf(late), 'alert.fired: server 12, from panel, too late to act on (received 2026-01-01T02:10:00Z)');
  assert.equal(textOf({ ...about, event }), 'alert.fired: server 12, from panel');
});
