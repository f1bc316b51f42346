import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { before, test } from 'node:test';
import { startSandbox, type Sandbox } from '../../../src/sandbox/server.ts';
import { atEnd } from '../../support/at-end.ts';
import { eventually } from '../../support/eventually.ts';

/*
 * The documented API: requests and answers as its text shows them. They do not use our client, so that client
 * and sandbox cannot share a mistake.
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

test('a Content-Type: application/json header is accepted without a body', async () => {
  assert.equal((await ask('POST /v1/sites/18/deploy', { 'Content-Type': 'application/json' })).status, 200);
});

test('GET /v1/sites/<site_id>/deployments/latest returns the status of the latest deployment', async () => {
  sandbox.script({ site: '19' }, { durationMs: 600_000, words: ['building'] }, { durationMs: 100 });
  await ask('POST /v1/sites/19/deploy');
  assert.deepEqual((await ask('GET /v1/sites/19/deployments/latest')).body, { status: 'building' });
  await ask('POST /v1/sites/19/deploy');
  await sleep(150);
  assert.deepEqual((await ask('GET /v1/sites/19/deployments/latest')).body, { status: 'completed' });
});

test('POST /v1/servers/<server_id>/backups returns the id that GET /v1/backups/<backup_id> takes', async () => {
  sandbox.script({ server: '5' }, { durationMs: 600_000, words: ['running'] }, { durationMs: 100 });
  const begin = async () => ((await ask('POST /v1/servers/5/backups')).body as { id: string }).id;
  const [long, short] = [await begin(), await begin()];
  assert.equal(typeof long, 'string');
  await sleep(150);
  assert.deepEqual((await ask(`GET /v1/backups/${long}`)).body, { status: 'running' });
  assert.deepEqual((await ask(`GET /v1/backups/${short}`)).body, { status: 'completed' });
});

test('the latest deployment is the most recent one, including deployments by others', async () => {
  sandbox.script({ site: '20' }, { durationMs: 0, ends: 'failed' }, { durationMs: 60_000, words: ['pushed'] });
  await ask('POST /v1/sites/20/deploy');
  assert.deepEqual((await ask('GET /v1/sites/20/deployments/latest')).body, { status: 'failed' });
  sandbox.act({ site: '20' });
  assert.deepEqual((await ask('GET /v1/sites/20/deployments/latest')).body, { status: 'pushed' });
  assert.equal(sandbox.journal.at(-2)?.by, 'outside');
});

test('a request without a valid token is rejected and does nothing', async () => {
  for (const Authorization of ['', 'Bearer wrong', 'API_TOKEN']) {
    const count = sandbox.journal.filter(({ began }) => began !== null).length;
    assert.equal((await ask('POST /v1/sites/21/deploy', { Authorization })).status, 401);
    assert.equal(sandbox.journal.filter(({ began }) => began !== null).length, count);
  }
});

test('an unknown deployment or backup is not found', async () => {
  assert.equal((await ask('GET /v1/sites/never/deployments/latest')).status, 404);
  assert.equal((await ask('GET /v1/backups/never')).status, 404);
});

test('the journal lists each request with its sender and contains no token', async () => {
  await ask('POST /v1/sites/22/deploy', { 'Idempotency-Key': 'k1' });
  const entry = sandbox.journal.at(-1);
  assert.equal(entry?.request, 'POST /v1/sites/22/deploy');
  assert.equal(entry?.idempotencyKey, 'k1');
  assert.equal(entry?.began?.target, '22');
  assert.ok(!JSON.stringify(sandbox.journal).includes('API_TOKEN'));
});

const JSON_TYPE = { 'Content-Type': 'application/json' };

const control = (path: string, body: object, headers: Record<string, string> = JSON_TYPE) =>
  fetch(`${sandbox.url}/sandbox/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });

test('other processes can script the sandbox and start operations', async () => {
  const scripts = [{ durationMs: 60_000, words: ['scripted'] }];
  assert.equal((await control('scripts', { target: { site: '23' }, scripts })).status, 204);
  assert.equal((await control('act', { site: '23' })).status, 204);
  assert.deepEqual((await ask('GET /v1/sites/23/deployments/latest')).body, { status: 'scripted' });
  const refused = await control('scripts', { target: { site: '23' }, scripts: [{ duration: 1 }] });
  assert.equal(refused.status, 400);
  const { message } = (await refused.json()) as { message: string };
  assert.match(message, /"duration"[^]*takes \{target: \{site\} or .*scripts: \[\{durationMs\?, words\?/);
});

test('a web page in a browser cannot control the sandbox', async () => {
  const target = { site: 'untouched' };
  for (const [headers, status] of [
    [{ ...JSON_TYPE, Origin: 'https://example.com' }, 403],
    [{ ...JSON_TYPE, Origin: sandbox.url }, 403],
    [{ ...JSON_TYPE, Origin: 'null' }, 403],
    [{ 'Content-Type': 'text/plain' }, 415],
    [{ 'Content-Type': 'application/x-www-form-urlencoded' }, 415],
    [{ 'Content-Type': 'text/plain; application/json' }, 415],
  ] as [Record<string, string>, number][]) {
    assert.equal((await control('act', target, headers)).status, status, JSON.stringify(headers));
  }
  const journal = await fetch(`${sandbox.url}/sandbox/journal`, { headers: { Origin: 'https://example.com' } });
  assert.equal(journal.status, 403);
  for (const path of ['/%73%61%6e%64%62ox/act', '/sandbox%2Fact', '//sandbox/act', '/SANDBOX/act']) {
    const init = { method: 'POST', headers: { 'Content-Type': 'text/plain', Origin: 'https://example.com' } };
    const { status } = await fetch(`${sandbox.url}${path}`, { ...init, body: JSON.stringify(target) });
    assert.ok(status === 403 || status === 404, `${path}: ${status}`);
  }
  assert.equal((await ask(LATEST('untouched'))).status, 404);
  assert.equal((await control('act', target, { 'Content-Type': 'Application/JSON; charset=utf-8' })).status, 204);
});

test('a body that is not JSON is rejected with the reason', async () => {
  const refused = await fetch(`${sandbox.url}/sandbox/act`, { method: 'POST', headers: JSON_TYPE, body: '{site: 1}' });
  const message = 'the body is not JSON; /sandbox/act takes {site} or {app} or {server}';
  assert.deepEqual([refused.status, await refused.json()], [400, { message }]);
});

const LATEST = (site: string) => `GET /v1/sites/${site}/deployments/latest`;

test('finishing an operation that never began is rejected with the reason', async () => {
  const finish = () => control('finish', { target: { site: 'never-begun' }, word: 'completed' });
  const refused = await finish();
  assert.deepEqual(
    [refused.status, await refused.json()],
    [409, { message: 'no deployment of never-begun was started: there is nothing to finish' }],
  );
  await ask('POST /v1/sites/never-begun/deploy');
  assert.equal((await finish()).status, 204);
});

test('faults apply in order, after the requested skip and with the requested count', async () => {
  const unavailable = { kind: 'status', code: 503, retryAfter: '2' } as const;
  sandbox.fault(
    { route: 'latest', target: '30', skip: 1, times: 2, answer: unavailable },
    { target: '30', answer: { kind: 'body', code: 200, type: 'text/html', text: '<html>' } },
  );
  const said: unknown[] = [];
  for (let read = 0; read < 5; read += 1) {
    const response = await fetch(`${sandbox.url}/v1/sites/30/deployments/latest`, {
      headers: { Authorization: 'Bearer API_TOKEN' },
    });
    said.push([response.status, response.headers.get('retry-after'), (await response.text()).slice(0, 6)]);
  }
  assert.deepEqual(said, [
    [200, null, '<html>'],
    [503, '2', '{"mess'],
    [503, '2', '{"mess'],
    [404, null, '{"mess'],
    [404, null, '{"mess'],
  ]);
  const noted = sandbox.journal.filter(({ request }) => request === 'GET /v1/sites/30/deployments/latest');
  assert.deepEqual(
    noted.map(({ asksToWaitMs }) => asksToWaitMs),
    [null, 2_000, 2_000, null, null],
  );
});

test('a request can take effect and lose its answer, or be lost before it takes effect', async () => {
  const answer = { kind: 'reset' } as const;
  sandbox.fault({ route: 'deploy', target: '31', answer }, { route: 'deploy', target: '31', effect: true, answer });
  await assert.rejects(ask('POST /v1/sites/31/deploy'));
  assert.equal((await ask(LATEST('31'))).status, 404);
  await assert.rejects(ask('POST /v1/sites/31/deploy'));
  assert.equal((await ask(LATEST('31'))).status, 200);
  assert.deepEqual(
    sandbox.journal.filter(({ request }) => request === 'POST /v1/sites/31/deploy').map(({ began }) => began !== null),
    [false, true],
  );
});

test('an answer can be truncated, never arrive, or contain a numeric id', async () => {
  sandbox.fault(
    { route: 'latest', target: '32', answer: { kind: 'cut' } },
    { route: 'latest', target: '32', answer: { kind: 'none' } },
    { route: 'create-backup', target: '32', answer: { kind: 'numeric_id' } },
  );
  await assert.rejects(ask(LATEST('32')));
  await assert.rejects(
    fetch(`${sandbox.url}/v1/sites/32/deployments/latest`, {
      headers: { Authorization: 'Bearer API_TOKEN' },
      signal: AbortSignal.timeout(300),
    }),
  );
  const { body } = await ask('POST /v1/servers/32/backups');
  const { id } = body as { id: number };
  assert.equal(typeof id, 'number');
  assert.equal((await ask(`GET /v1/backups/${id}`)).status, 200);
});

test('latest shows the previous deployment while it lags behind the trigger', async () => {
  const [before, after] = [{ durationMs: 0, ends: 'failed' }, { durationMs: 600_000 }];
  sandbox.script({ site: '33' }, before, { ...after, lagMs: 600_000 }, { ...after, lagMs: 100 });
  for (let begun = 0; begun < 2; begun += 1) await ask('POST /v1/sites/33/deploy');
  assert.deepEqual((await ask(LATEST('33'))).body, { status: 'failed' });
  await ask('POST /v1/sites/33/deploy');
  await sleep(150);
  assert.deepEqual((await ask(LATEST('33'))).body, { status: 'queued' });
});

test('a deleted site is not found and cannot be deployed', async () => {
  await ask('POST /v1/sites/34/deploy');
  sandbox.remove({ site: '34' });
  assert.equal((await ask(LATEST('34'))).status, 404);
  assert.equal((await ask('POST /v1/sites/34/deploy')).status, 404);
});

test('the sandbox answers 429 beyond its limit, without effect', async () => {
  sandbox.limit(2);
  const noted = () => sandbox.journal.filter(({ request }) => request === 'POST /v1/sites/35/deploy');
  // On a slow machine, three requests may take longer than a second.
  await eventually('a request too many', async () => {
    await Promise.all([1, 2, 3].map(() => ask('POST /v1/sites/35/deploy')));
    return noted().some(({ answered }) => answered === 429);
  });
  sandbox.limit(null);
  assert.ok(noted().findIndex(({ answered }) => answered === 429) >= 2);
  for (const { answered, began, asksToWaitMs } of noted())
    assert.deepEqual([began !== null, asksToWaitMs], answered === 429 ? [false, 0] : [true, null]);
});

test('other processes control the sandbox over HTTP, and malformed commands get the reason', async () => {
  assert.equal((await control('faults', [{ route: 'latest', target: '36', answer: { kind: 'reset' } }])).status, 204);
  await assert.rejects(ask(LATEST('36')));
  assert.equal((await control('limit', { perSecond: null })).status, 204);
  assert.equal((await control('remove', { site: '36' })).status, 204);
  const wrong = await control('faults', [{ route: 'nowhere', answer: { kind: 'reset' } }]);
  assert.equal(wrong.status, 400);
  assert.match(((await wrong.json()) as { message: string }).message, /route/);
  assert.equal((await control('token', { token: 'next' })).status, 204);
  assert.equal((await ask(LATEST('36'))).status, 401);
});
