import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerRequest, ENDPOINTS } from '../../src/sandbox/routes.ts';
import { createState } from '../../src/sandbox/state.ts';

test('the journal of the sandbox dates an operation by its begin, however late a busy machine notes it', () => {
  let nowMs = Date.parse('2026-01-01T00:00:00Z');
  const state = createState({ token: 'token', defaults: {}, onBegin: () => undefined, clock: () => (nowMs += 40) });
  const endpoint = ENDPOINTS.find(({ route }) => route === 'create-backup')!;
  const request = { path: '/v1/servers/s1/backups', id: 's1', authorization: 'Bearer token', idempotencyKey: null };
  answerRequest(state, endpoint, request);
  const { at, began } = state.journal[0]!;
  assert.equal(Date.parse(at), state.backup(began!.id)!.startedMs);
});
