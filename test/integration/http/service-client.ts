import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { test } from 'node:test';
import { createServiceClient, ServiceError, type ServiceClient } from '../../../src/hosting-api/index.ts';
import { retryAfterMs } from '../../../src/hosting-api/retry-after.ts';
import { atEnd } from '../../support/at-end.ts';

const TOKEN = 'canary-77aa';

/** A service that answers with literal bytes, and the bytes it was sent. */
async function rawService(
  answer: string | ((socket: Socket) => void),
): Promise<{ client: ServiceClient; sent: () => string }> {
  let sent = '';
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      sent += data.toString();
      if (!sent.endsWith('\r\n\r\n')) return;
      if (typeof answer === 'string') socket.end(answer);
      else answer(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => new Promise((resolve) => server.close(resolve)));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { client: createServiceClient({ baseUrl, token: () => Promise.resolve(TOKEN) }), sent: () => sent };
}

const http = (status: string, body: string, headers = ''): string =>
  `HTTP/1.1 ${status}\r\n${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

async function errorOf(promise: Promise<unknown>): Promise<ServiceError> {
  return promise.then(
    () => assert.fail('there was an answer'),
    (error: unknown) => {
      assert.ok(error instanceof ServiceError, String(error));
      assert.ok(!inspect(error, { depth: 10, showHidden: true }).includes(TOKEN), 'the token is in the error');
      return error;
    },
  );
}

test('triggers a deployment as the interface shows it', async () => {
  const { client, sent } = await rawService(http('200 OK', '{"anything":1}'));
  await client.triggerDeployment('a1', { idempotencyKey: 'run:1' });
  const [line, ...headers] = sent().split('\r\n');
  assert.equal(line, 'POST /v1/sites/a1/deploy HTTP/1.1');
  assert.ok(headers.includes(`Authorization: Bearer ${TOKEN}`));
  assert.ok(headers.includes('Idempotency-Key: run:1'));
  assert.ok(headers.includes('Content-Length: 0'));
  assert.ok(headers.includes('Connection: close'), 'a trigger gets a connection of its own');
});

test('creates a backup and reads it as the interface shows it', async () => {
  const created = await rawService(http('201 Created', '{"id":"b1"}'));
  assert.deepEqual(await created.client.createBackup('s1'), { backupId: 'b1' });
  assert.match(created.sent(), /^POST \/v1\/servers\/s1\/backups HTTP/);
  const read = await rawService(http('200 OK', '{"status":"completed"}'));
  assert.deepEqual(await read.client.readBackup('b1'), { status: 'completed', marks: [] });
  assert.match(read.sent(), /^GET \/v1\/backups\/b1 HTTP/);
});

test('reads the latest deployment, and what it says of its identity', async () => {
  const body = '{"status":" Building ","id":12345678901234567891,"deployment":{"commit":"c0ffee"},"site_id":"a1"}';
  const { client, sent } = await rawService(http('200 OK', body));
  const read = await client.readLatestDeployment('a1');
  assert.deepEqual(read, { status: 'Building', marks: ['id:12345678901234567891', 'commit:c0ffee'] });
  assert.match(sent(), /^GET \/v1\/sites\/a1\/deployments\/latest HTTP/);
});

test('an id that would change the path is encoded into one segment', async () => {
  const { client, sent } = await rawService(http('200 OK', '{}'));
  await client.triggerDeployment('a/../b?c#d ä');
  assert.match(sent(), /^POST \/v1\/sites\/a%2F\.\.%2Fb%3Fc%23d%20%C3%A4\/deploy HTTP/);
  assert.throws(() => client.triggerDeployment('..'), TypeError);
});

test('takes a number for an id as its decimal digits', async () => {
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
  test(`takes ${body === '' ? 'an empty body' : body} for no backup`, async () => {
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
  test(`takes ${body.slice(0, 20)} for no status`, async () => {
    const { client } = await rawService(http('200 OK', body));
    assert.equal((await errorOf(client.readBackup('b1'))).kind, 'protocol');
  });
}

test('a trigger may be answered by any JSON, or by nothing', async () => {
  for (const body of ['', '[]', '"ok"', '{"id":7}']) {
    const { client } = await rawService(http('202 Accepted', body));
    await client.triggerDeployment('a1');
  }
  const { client } = await rawService(http('200 OK', '<html>log in</html>'));
  assert.equal((await errorOf(client.triggerDeployment('a1'))).kind, 'protocol');
});

test('an error names the request and the answer, and holds no token', async () => {
  const { client } = await rawService(http('403 Forbidden', `{"message":"no ${TOKEN}"}`));
  const error = await errorOf(client.triggerDeployment('a1'));
  assert.equal(error.message, 'POST /v1/sites/a1/deploy: 403 {"message":"no [token]"}');
  assert.deepEqual([error.kind, error.httpStatus, error.sent], ['http', 403, true]);
});

test('a redirect is not followed', async () => {
  const { client, sent } = await rawService(http('302 Found', '', 'Location: http://127.0.0.1:1/\r\n'));
  assert.equal((await errorOf(client.readBackup('b1'))).httpStatus, 302);
  assert.equal(sent().match(/GET/g)?.length, 1);
});

test('no connection was made: certainly nothing was sent', async () => {
  const client = createServiceClient({ baseUrl: 'http://127.0.0.1:1', token: () => Promise.resolve(TOKEN) });
  const error = await errorOf(client.triggerDeployment('a1'));
  assert.deepEqual([error.kind, error.sent], ['network', false]);
  assert.match(error.message, /no connection was made \(ECONNREFUSED\)/);
});

test('a connection that breaks after the request leaves it open what happened', async () => {
  const { client } = await rawService((socket) => socket.resetAndDestroy());
  const error = await errorOf(client.triggerDeployment('a1'));
  assert.deepEqual([error.kind, error.sent], ['network', true]);
});

test('a body cut short is no answer', async () => {
  const { client } = await rawService((socket) =>
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{"id":"b1"'),
  );
  assert.equal((await errorOf(client.createBackup('s1'))).sent, true);
});

test('an answer that does not come in time is a time-out, headers or body', async () => {
  for (const begin of ['', 'HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{']) {
    const { client } = await rawService((socket) => void socket.write(begin));
    const error = await errorOf(client.readBackup('b1', { timeoutMs: 200 }));
    assert.deepEqual([error.kind, error.sent], ['timeout', true]);
  }
});

test('a body over the cap is refused', async () => {
  const { client } = await rawService(http('200 OK', JSON.stringify({ status: 'x'.repeat(300_000) })));
  assert.match((await errorOf(client.readBackup('b1'))).message, /over 262144 bytes/);
});

test('a proxy of the environment is not used', async () => {
  process.env.http_proxy = 'http://127.0.0.1:1';
  try {
    const { client } = await rawService(http('200 OK', '{"status":"ok"}'));
    assert.equal((await client.readBackup('b1')).status, 'ok');
  } finally {
    delete process.env.http_proxy;
  }
});

test('a token that cannot be read sends nothing', async () => {
  const client = createServiceClient({
    baseUrl: 'http://127.0.0.1:1',
    token: () => Promise.reject(new Error('no file')),
  });
  const error = await errorOf(client.triggerDeployment('a1'));
  assert.deepEqual([error.kind, error.sent, error.message], ['token', false, 'POST /v1/sites/a1/deploy: no file']);
});

test('Retry-After is seconds or a date, and nothing else', () => {
  const nowMs = Date.parse('2026-11-21T00:00:00Z');
  assert.equal(retryAfterMs('7', nowMs), 7_000);
  assert.equal(retryAfterMs('Sat, 21 Nov 2026 00:00:30 GMT', nowMs), 30_000);
  assert.equal(retryAfterMs('Fri, 20 Nov 2026 00:00:00 GMT', nowMs), 0);
  for (const nonsense of ['', '-5', '1.5', 'soon', undefined, ['7']])
    assert.equal(retryAfterMs(nonsense, nowMs), undefined);
});

test('a request that is too late once the token is there is not sent', async () => {
  const { client, sent } = await rawService(http('200 OK', '{}'));
  const error = await errorOf(client.triggerDeployment('a1', { notAfterMs: Date.now() - 1 }));
  assert.deepEqual([error.kind, error.sent, sent()], ['network', false, '']);
});

test('a service that says the token back does not get it into a status, however it writes it', async () => {
  for (const token of [TOKEN, 'canary"\\77aa']) {
    const { client } = await rawService(http('200 OK', JSON.stringify({ status: `by ${token}` })));
    const { origin: baseUrl } = client;
    const other = createServiceClient({ baseUrl, token: () => Promise.resolve(token) });
    assert.equal((await other.readBackup('b1')).status, 'by [token]');
  }
});
