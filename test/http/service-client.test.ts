import assert from 'node:assert/strict';
import { test } from 'node:test';
import { retryAfterMs } from '../../src/hosting-api/exchange.ts';
import { HTTP_TIMEOUTS } from '../../src/worker/probe-service.ts';
import { createHostingApiClient } from '../../src/hosting-api/client.ts';
import { eventually } from '../support/eventually.ts';
import { errorOf, http, rawService, site, TOKEN } from '../support/raw-service.ts';

test('triggers a deployment as the API documents it', async () => {
  const { client, sent } = await rawService(http('200 OK', '{"anything":1}'));
  await client.triggerDeployment(site('a1'), { idempotencyKey: 'run:1' });
  const [line, ...headers] = sent().split('\r\n');
  assert.equal(line, 'POST /v1/sites/a1/deploy HTTP/1.1');
  assert.ok(headers.includes(`Authorization: Bearer ${TOKEN}`));
  assert.ok(headers.includes('Idempotency-Key: run:1'));
  assert.ok(headers.includes('Content-Length: 0'));
  assert.ok(!headers.some((it) => it.startsWith('Content-Type')), 'a request without a body names no type');
  assert.ok(headers.includes('Connection: close'), 'a trigger uses a new connection');
});

test('creates a backup and reads it as the API documents it', async () => {
  const created = await rawService(http('201 Created', '{"id":"b1"}'));
  assert.deepEqual(await created.client.createBackup('s1'), { backupId: 'b1' });
  assert.match(created.sent(), /^POST \/v1\/servers\/s1\/backups HTTP/);
  const read = await rawService(http('200 OK', '{"status":"completed"}'));
  assert.deepEqual(await read.client.readBackup('b1'), { status: 'completed' });
  assert.match(read.sent(), /^GET \/v1\/backups\/b1 HTTP/);
});

test('reads the status and the ids of the latest deployment', async () => {
  const body = '{"status":" Building ","id":12345678901234567891,"deployment":{"commit":"ab12cd34"},"site_id":"a1"}';
  const { client, sent } = await rawService(http('200 OK', body));
  const read = await client.readLatestDeployment(site('a1'));
  assert.deepEqual(read, { status: 'Building', ids: { id: '12345678901234567891' } });
  assert.match(sent(), /^GET \/v1\/sites\/a1\/deployments\/latest HTTP/);
});

test('ids are named by the paths of their fields, and only the one that is configured counts', async () => {
  const answer = {
    id: 34,
    data: { id: 7, deployment_id: 'd2', name: 'x' },
    deployment: { uuid: 'u2' },
    ref: { no: 9 },
  };
  const idsBy = async (idField?: string) => {
    const { client } = await rawService(http('202 Accepted', JSON.stringify(answer)));
    return (await client.triggerDeployment(site('a1'), { idField })).ids;
  };
  const found = { id: '34', 'deployment.uuid': 'u2', 'data.id': '7', 'data.deployment_id': 'd2' };
  assert.deepEqual(await idsBy(), found);
  assert.deepEqual(await idsBy('data.id'), { 'data.id': '7' });
  assert.deepEqual(await idsBy('ref.no'), { 'ref.no': '9' });
  assert.equal(await idsBy('data.nothing'), undefined);
  assert.equal(await idsBy('none'), undefined);
});

test('an id with path characters is encoded as one segment', async () => {
  const { client, sent } = await rawService(http('200 OK', '{}'));
  await client.triggerDeployment(site('a/../b?c#d ä'));
  assert.match(sent(), /^POST \/v1\/sites\/a%2F\.\.%2Fb%3Fc%23d%20%C3%A4\/deploy HTTP/);
  assert.throws(() => client.triggerDeployment(site('..')), TypeError);
});

test('an app has the configured paths, and none without them', async () => {
  const { client, sent, baseUrl } = await rawService(http('200 OK', '{}'));
  const app = { kind: 'app' as const, id: '$& b' };
  assert.throws(() => client.triggerDeployment(app), TypeError);
  const appPaths = { deploy: '/x/{id}/start', latest: '/x/{id}/last' };
  const token = () => Promise.resolve(TOKEN);
  const configured = createHostingApiClient({ ...HTTP_TIMEOUTS, baseUrl, token, appPaths });
  await configured.triggerDeployment(app);
  assert.match(sent(), /^POST \/x\/%24%26%20b\/start HTTP/);
  assert.deepEqual([client.deploysApps, configured.deploysApps], [false, true]);
});

test('reads a numeric id as its decimal digits', async () => {
  const { client } = await rawService(http('200 OK', '{"id":12345678901234567891}'));
  assert.deepEqual(await client.createBackup('s1'), { backupId: '12345678901234567891' });
});

for (const body of [
  '{"id":1.5}',
  '{"id":-3}',
  '{"id":""}',
  '{"id":null}',
  '{"id":".."}',
  '{}',
  '[]',
  '',
  'null',
  '<html>',
  '{"id":"b',
]) {
  test(`rejects ${body === '' ? 'an empty body' : body} as a backup`, async () => {
    const { client } = await rawService(http('200 OK', body));
    const error = await errorOf(client.createBackup('s1'));
    assert.deepEqual([error.kind, error.sent], ['protocol', true]);
  });
}

for (const body of [
  '<html>',
  '{"status":1}',
  '{"status":"  "}',
  '{"state":"completed"}',
  '"completed"',
  '['.repeat(50_000),
]) {
  test(`rejects ${body.slice(0, 20)} as a status`, async () => {
    const { client } = await rawService(http('200 OK', body));
    assert.equal((await errorOf(client.readBackup('b1'))).kind, 'protocol');
  });
}

test('of a field that an answer repeats, the last value counts', async () => {
  const { client } = await rawService(http('200 OK', '{"id":"b1","status":"queued","id":"b2","status":"completed"}'));
  assert.deepEqual(await client.createBackup('s1'), { backupId: 'b2' });
  assert.equal((await client.readBackup('b2')).status, 'completed');
});

test('a trigger accepts any JSON or an empty body as its answer', async () => {
  for (const body of ['', '[]', '"ok"', '{"id":7}', '{"status":"accepted","status":"queued"}']) {
    const { client } = await rawService(http('202 Accepted', body));
    await client.triggerDeployment(site('a1'));
  }
  const { client } = await rawService(http('200 OK', '<html>log in</html>'));
  assert.equal((await errorOf(client.triggerDeployment(site('a1')))).kind, 'protocol');
});

for (const token of ['t', 'te', '1234', 'true', 'status', 'completed', 'e']) {
  test(`a token that is part of ordinary words does not change what an answer means: ${token}`, async () => {
    const asked = async (body: string) => (await rawService(http('200 OK', body), token)).client;
    const status = '{"status":"completed","id":71234,"note":true}';
    const read = { status: 'completed', ids: { id: '71234' } };
    assert.deepEqual(await (await asked(status)).readBackup('b1'), { status: 'completed' });
    assert.deepEqual(await (await asked(status)).readLatestDeployment(site('a1')), read);
    assert.deepEqual(await (await asked('{"id":"test-1234"}')).createBackup('s1'), { backupId: 'test-1234' });
    assert.deepEqual(await (await asked('{"id":1234}')).triggerDeployment(site('a1')), {
      ids: { id: '1234' },
    });
  });
}

test('an answer that echoes the token puts it nowhere', async () => {
  const quoting = 'canary"77\\aa';
  for (const token of [TOKEN, quoting]) {
    const echo = async (answer: object) => (await rawService(http('200 OK', JSON.stringify(answer)), token)).client;
    const status = { status: `waiting for ${token}`, id: token, commit: `x${token}` };
    const read = { status: 'waiting for [token]' };
    assert.deepEqual(await (await echo(status)).readBackup('b1'), read);
    assert.deepEqual(await (await echo(status)).readLatestDeployment(site('a1')), read);
    assert.deepEqual(await (await echo({ id: token })).triggerDeployment(site('a1')), {});
    const error = await errorOf((await echo({ id: `b-${token}` })).createBackup('s1'));
    assert.match(error.message, /no usable field "id"/);
  }
});

test('an error names the request and the answer and contains no token', async () => {
  const { client } = await rawService(http('403 Forbidden', `{"message":"no ${TOKEN}"}`));
  const error = await errorOf(client.triggerDeployment(site('a1')));
  assert.equal(error.message, 'POST /v1/sites/a1/deploy: 403 {"message":"no [token]"}');
  assert.deepEqual([error.kind, error.httpStatus, error.sent], ['http', 403, true]);
});

test('an error shows a long answer by whole characters', async () => {
  const begin = 'x'.repeat(195);
  const { client } = await rawService(http('422 Unprocessable Content', `${begin}😀 and more`));
  const { message } = await errorOf(client.triggerDeployment(site('a1')));
  assert.equal(message, `POST /v1/sites/a1/deploy: 422 ${begin}😀`);
});

test('an error contains no token that the answer spells in another way', async () => {
  const token = 'canary/7f+3a==';
  for (const echo of ['canary\\/7f+3a==', encodeURIComponent(token), 'CANARY/7F+3A==']) {
    const { client } = await rawService(http('403 Forbidden', `{"message":"no ${echo}"}`), token);
    const { message } = await errorOf(client.triggerDeployment(site('a1')));
    assert.equal(message, 'POST /v1/sites/a1/deploy: 403 {"message":"no [token]"}');
  }
});

test('a redirect is not followed', async () => {
  const { client, sent } = await rawService(http('302 Found', '', 'Location: http://127.0.0.1:1/\r\n'));
  assert.equal((await errorOf(client.readBackup('b1'))).httpStatus, 302);
  assert.equal(sent().match(/GET/g)?.length, 1);
});

test('a request without a connection is certainly not sent', async () => {
  const client = createHostingApiClient({
    ...HTTP_TIMEOUTS,
    baseUrl: 'http://127.0.0.1:1',
    token: () => Promise.resolve(TOKEN),
  });
  const error = await errorOf(client.triggerDeployment(site('a1')));
  assert.deepEqual([error.kind, error.sent], ['network', false]);
  assert.match(error.message, /no connection was made \(ECONNREFUSED\)/);
});

test('a connection that breaks after the request leaves the effect unknown', async () => {
  const { client } = await rawService((socket) => socket.resetAndDestroy());
  const error = await errorOf(client.triggerDeployment(site('a1')));
  assert.deepEqual([error.kind, error.sent], ['network', true]);
});

test('a truncated body is not an answer', async () => {
  const { client } = await rawService((socket) =>
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"id":"b1"'),
  );
  assert.equal((await errorOf(client.createBackup('s1'))).sent, true);
});

test('an answer whose headers or body do not arrive in time is a timeout', async () => {
  for (const begin of ['', 'HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{']) {
    const { client, sent } = await rawService((socket) => void socket.write(begin));
    const error = await eventually('a request that reaches the service in time', async () => {
      const it = await errorOf(client.readBackup('b1', { timeoutMs: 200 }));
      // A slow machine has not even connected after that time.
      return sent() !== '' && it;
    });
    assert.deepEqual([error.kind, error.sent], ['timeout', true]);
  }
});

test('a body over the size limit is rejected', async () => {
  const { client } = await rawService(http('200 OK', JSON.stringify({ status: 'x'.repeat(300_000) })));
  assert.match((await errorOf(client.readBackup('b1'))).message, /over 262144 bytes/);
});

test('a proxy in the environment is not used', async () => {
  process.env.http_proxy = 'http://127.0.0.1:1';
  try {
    const { client } = await rawService(http('200 OK', '{"status":"ok"}'));
    assert.equal((await client.readBackup('b1')).status, 'ok');
  } finally {
    delete process.env.http_proxy;
  }
});

test('a token that cannot be read sends nothing', async () => {
  const client = createHostingApiClient({
    ...HTTP_TIMEOUTS,
    baseUrl: 'http://127.0.0.1:1',
    token: () => Promise.reject(new Error('no file')),
  });
  const error = await errorOf(client.triggerDeployment(site('a1')));
  assert.deepEqual([error.kind, error.sent, error.message], ['token', false, 'POST /v1/sites/a1/deploy: no file']);
});

test('Retry-After is seconds or a date, and nothing else', () => {
  const nowMs = Date.parse('2026-11-21T00:00:00Z');
  assert.equal(retryAfterMs('7', nowMs), 7_000);
  assert.equal(retryAfterMs('9'.repeat(30), nowMs), 9_999_999_999_000);
  assert.equal(retryAfterMs('Sat, 21 Nov 2026 00:00:30 GMT', nowMs), 30_000);
  assert.equal(retryAfterMs('Fri, 20 Nov 2026 00:00:00 GMT', nowMs), 0);
  assert.equal(retryAfterMs('Saturday, 21-Nov-26 00:00:30 GMT', nowMs), 30_000);
  for (const nonsense of ['', '-5', '1.5', 'soon', 'May 5', 'Sat, 21 Nov 2026 00:00:30', undefined, ['7']])
    assert.equal(retryAfterMs(nonsense, nowMs), undefined, String(nonsense));
});

test('503 with a Retry-After that is no time does not count as a request to wait', async () => {
  for (const [text, asksForPause] of [
    ['Sat, 21 Nov 2026 00:00:30 GMT', true],
    ['May 5', false],
  ] as const) {
    const { client } = await rawService(http('503 Service Unavailable', '', `Retry-After: ${text}\r\n`));
    assert.equal((await errorOf(client.triggerDeployment(site('a1')))).asksForPause, asksForPause, text);
  }
});

test('a date in Retry-After is compared with the clock of the service', async () => {
  const dates = 'Date: Sat, 21 Nov 2020 00:00:00 GMT\r\nRetry-After: Sat, 21 Nov 2020 00:00:30 GMT\r\n';
  const { client } = await rawService(http('429 Too Many Requests', '', dates));
  assert.equal((await errorOf(client.readBackup('b1'))).retryAfterMs, 30_000);
});

test('a request whose permit ends before the token is read is not sent', async () => {
  const { client, sent } = await rawService(http('200 OK', '{}'));
  const error = await errorOf(client.triggerDeployment(site('a1'), { permit: { leftMs: () => 0 } }));
  assert.deepEqual([error.kind, error.sent, sent()], ['network', false, '']);
});

test('a request whose permit ends while it connects is not sent, although no timer noticed', async () => {
  const { client, sent } = await rawService(http('200 OK', '{}'));
  let asked = 0;
  // As after a suspension: there was time before the connection, and none is left once it is made.
  const leftMs = () => ((asked += 1) <= 2 ? 60_000 : 0);
  const error = await errorOf(client.triggerDeployment(site('a1'), { permit: { leftMs } }));
  assert.deepEqual([error.kind, error.sent, sent()], ['network', false, '']);
});

test('a token echoed by the service never gets into a status, in any spelling', async () => {
  for (const token of [TOKEN, 'canary"\\77aa']) {
    const { baseUrl } = await rawService(http('200 OK', JSON.stringify({ status: `by ${token}` })));
    const other = createHostingApiClient({ ...HTTP_TIMEOUTS, baseUrl, token: () => Promise.resolve(token) });
    assert.equal((await other.readBackup('b1')).status, 'by [token]');
  }
});
