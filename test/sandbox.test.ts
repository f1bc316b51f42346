import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { before, test } from 'node:test';
import { startSandbox, type Sandbox } from '../src/sandbox/server.ts';
import { atEnd } from './support/at-end.ts';

/*
 * The contract of docs: requests and answers as the interface's text shows them, without our client, so that client
 * and sandbox can't share a mistake.
 */
let sandbox: Sandbox;
before(async () => {
  sandbox = await startSandbox({ token: 'API_TOKEN' });
  atEnd(() => sandbox.close());
});

async function ask(request: string, headers: Record<string, string> = {}): Promise<{ status: number; body: unknown }> {
  const [method = '', path = ''] = request.split(' ');
  const response = await fetch(sandbox.url + path, {
    method,
    headers: { Authorization: 'Bearer API_TOKEN', ...headers },
  });
  return { status: response.status, body: await response.json() };
}

test('POST /v1/sites/<site_id>/deploy needs no body, and returns JSON', async () => {
  const { status, body } = await ask('POST /v1/sites/17/deploy');
  assert.equal(status, 200);
  assert.equal(typeof body, 'object');
});

test('a Content-Type: application/json header may be sent with no body', async () => {
  assert.equal((await ask('POST /v1/sites/18/deploy', { 'Content-Type': 'application/json' })).status, 200);
});

test('GET /v1/sites/<site_id>/deployments/latest returns the status of the latest deployment', async () => {
  sandbox.script({ site: '19' }, { durationMs: 200, words: ['building'] });
  await ask('POST /v1/sites/19/deploy');
  assert.deepEqual((await ask('GET /v1/sites/19/deployments/latest')).body, { status: 'building' });
  await sleep(250);
  assert.deepEqual((await ask('GET /v1/sites/19/deployments/latest')).body, { status: 'completed' });
});

test('POST /v1/servers/<server_id>/backups returns the id that GET /v1/backups/<backup_id> takes', async () => {
  sandbox.script({ server: '5' }, { durationMs: 200, words: ['running'] });
  const { body } = await ask('POST /v1/servers/5/backups');
  const { id } = body as { id: string };
  assert.equal(typeof id, 'string');
  assert.deepEqual((await ask(`GET /v1/backups/${id}`)).body, { status: 'running' });
  await sleep(250);
  assert.deepEqual((await ask(`GET /v1/backups/${id}`)).body, { status: 'completed' });
});

test('the latest deployment is the most recent one, whoever started it', async () => {
  sandbox.script({ site: '20' }, { durationMs: 0, ends: 'failed' }, { durationMs: 60_000, words: ['pushed'] });
  await ask('POST /v1/sites/20/deploy');
  assert.deepEqual((await ask('GET /v1/sites/20/deployments/latest')).body, { status: 'failed' });
  sandbox.act({ site: '20' });
  assert.deepEqual((await ask('GET /v1/sites/20/deployments/latest')).body, { status: 'pushed' });
  assert.equal(sandbox.journal.at(-2)?.by, 'outside');
});

test('a request without a valid token is not authorized, and does nothing', async () => {
  for (const Authorization of ['', 'Bearer wrong', 'API_TOKEN']) {
    const count = sandbox.journal.filter(({ began }) => began !== null).length;
    assert.equal((await ask('POST /v1/sites/21/deploy', { Authorization })).status, 401);
    assert.equal(sandbox.journal.filter(({ began }) => began !== null).length, count);
  }
});

test('what was never deployed or made is not found', async () => {
  assert.equal((await ask('GET /v1/sites/never/deployments/latest')).status, 404);
  assert.equal((await ask('GET /v1/backups/never')).status, 404);
});

test('the journal tells who did what, and holds no token', async () => {
  await ask('POST /v1/sites/22/deploy', { 'Idempotency-Key': 'k1' });
  const entry = sandbox.journal.at(-1);
  assert.equal(entry?.request, 'POST /v1/sites/22/deploy');
  assert.equal(entry?.idempotencyKey, 'k1');
  assert.equal(entry?.began?.target, '22');
  assert.ok(!JSON.stringify(sandbox.journal).includes('API_TOKEN'));
});

test('other processes can script it and act behind our back', async () => {
  const send = (path: string, body: object) =>
    fetch(sandbox.url + path, { method: 'POST', body: JSON.stringify(body) });
  const scripts = [{ durationMs: 60_000, words: ['scripted'] }];
  assert.equal((await send('/sandbox/scripts', { target: { site: '23' }, scripts })).status, 204);
  assert.equal((await send('/sandbox/act', { site: '23' })).status, 204);
  assert.deepEqual((await ask('GET /v1/sites/23/deployments/latest')).body, { status: 'scripted' });
  const refused = await send('/sandbox/scripts', { target: { site: '23' }, scripts: [{ duration: 1 }] });
  assert.equal(refused.status, 400);
  assert.match(JSON.stringify(await refused.json()), /duration/);
});
