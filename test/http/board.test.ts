/** The board's HTTP server with what it knows as an object, and its reads of the service. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { request as ask, type IncomingMessage } from 'node:http';
import { BlockList } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { pino } from 'pino';
import { ConfigError } from '../../src/config/environment/variables.ts';
import { serviceSource } from '../../src/features/board/board.ts';
import { createBoardServer, startBoard, type BoardGuards } from '../../src/features/board/server.ts';
import type { BoardSubject } from '../../src/features/board/past.ts';
import { boardStatusOf } from '../../src/features/board/status.ts';
import { atEnd } from '../support/at-end.ts';
import { NOW, nowMs, pastOf, seen, site, verdict } from '../support/board.ts';
import { literalService } from '../support/literal.ts';
import { tempFolder } from '../support/temporal.ts';

const log = pino({ level: 'silent' });
const SECRET = 'a-secret-of-some-length';
const OPEN: BoardGuards = { isLoopback: true, secret: null, identity: null };

async function served(guards: BoardGuards = OPEN) {
  const past = pastOf({ 'site:a/1': [verdict()], 'site:a2': [verdict({ outcome: 'failed', error: 'boom' })] });
  const shown = { looks: 0, readAt: NOW, targets: [site('a/1'), site('a2')] };
  const status = (since: string | null = null) =>
    boardStatusOf(seen({ past, readAt: shown.readAt, targets: shown.targets }), nowMs, since);
  const board = {
    look: () => Promise.resolve(void (shown.looks += 1)),
    status,
    target: ({ kind, id }: { kind: string; id: string }) => {
      const row = status().targets.find((it) => it.kind === kind && it.id === id);
      return row === undefined ? null : { row, past: past.of(row) };
    },
  };
  const app = createBoardServer({ board, guards, log });
  atEnd(() => app.close());
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = new URL(url);
  /** `fetch` sets the host itself. */
  const get = async (path: string, headers: Record<string, string> = {}, method = 'GET') => {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      ask({ host: '127.0.0.1', port, path, method, headers }, resolve).once('error', reject).end();
    });
    return { code: response.statusCode, headers: response.headers, body: await text(response) };
  };
  return { port, get, shown };
}

test('the board answers with a page, and with the same as data', async () => {
  const { get, shown } = await served();
  const page = await get('/');
  assert.equal(page.code, 200);
  assert.match(page.body, /^<!doctype html>[^]*boom[^]*site a\/1/);
  assert.match(
    String(page.headers['content-security-policy']),
    /^default-src 'none'; style-src 'self'; script-src 'self'/,
  );
  assert.doesNotMatch(page.body, /<style| style=|<script>| on\w+=/);
  const { code, body } = await get('/status.json');
  const { schemaVersion, targets, attention, freezes, next } = JSON.parse(body) as ReturnType<typeof boardStatusOf>;
  assert.deepEqual([code, schemaVersion, freezes, next], [200, 1, [], []]);
  const [failed] = targets;
  assert.deepEqual(
    [failed?.kind, failed?.id, failed?.server, failed?.fleet, failed?.now, failed?.service],
    ['site', 'a2', 's1', 'shop', null, null],
  );
  const { outcome, evidence, endedAt, durationMs, workflowId } = failed!.last!;
  assert.deepEqual(
    { outcome, evidence, endedAt, durationMs, workflowId },
    {
      ...{ outcome: 'failed', evidence: 'transition', endedAt: '2026-03-02T07:59:00.000Z' },
      ...{ durationMs: 70_000, workflowId: 'deploy:a1:k' },
    },
  );
  assert.deepEqual(
    attention.map(({ kind, what }) => [kind, what]),
    [['failed', 'site a2']],
  );
  assert.equal(shown.looks, 2);
});

test('a target has a page under its id, whatever that is, and an unknown one is 404', async () => {
  const { get } = await served();
  assert.match((await get('/sites/a%2F1')).body, /<h1>site a\/1<\/h1>/);
  for (const path of ['/sites/other', '/apps/a2', '/nothing', '/sites/'])
    assert.equal((await get(path)).code, 404, path);
});

test('everything but GET and HEAD is 405, also where there is no page', async () => {
  const { get } = await served();
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'])
    for (const path of ['/', '/status.json', '/nothing']) {
      const { code, headers } = await get(path, {}, method);
      assert.deepEqual([code, headers.allow], [405, 'GET, HEAD'], `${method} ${path}`);
    }
  const head = await get('/', {}, 'HEAD');
  assert.deepEqual([head.code, head.body], [200, '']);
});

test('on loopback, only the names of this machine with the port are answered', async () => {
  const { get, port } = await served();
  for (const name of ['localhost', 'LOCALHOST', '127.0.0.1', '[::1]'])
    assert.equal((await get('/', { host: `${name}:${port}` })).code, 200, name);
  const others = [
    ...['localhost', '127.0.0.1', `127.0.0.1:${Number(port) - 1}`, `evil.example:${port}`, 'evil.example'],
    ...[
      `localhost.evil.example:${port}`,
      `127.0.0.1.evil.example:${port}`,
      `evil@localhost:${port}`,
      `127.0.0.2:${port}`,
    ],
  ];
  for (const host of others)
    for (const path of ['/', '/status.json', '/board.js', '/healthz', '/nothing'])
      assert.equal((await get(path, { host })).code, 421, `${host} ${path}`);
});

test('an answer that has not changed is 304, also if something was read meanwhile', async () => {
  const { get, shown } = await served();
  for (const path of ['/', '/status.json', '/sites/a2', '/?since=12h', '/board.css', '/board.js']) {
    const { etag = '' } = (await get(path)).headers;
    assert.match(etag, /^W\/"/);
    shown.readAt = '2026-03-02T08:00:05.000Z';
    const again = await get(path, { 'if-none-match': `"other", ${etag}` });
    assert.deepEqual([again.code, again.body, again.headers.etag], [304, '', etag], path);
    if (!path.includes('board.')) assert.equal(again.headers['belay-read-at'], shown.readAt);
    shown.readAt = NOW;
  }
  const { etag = '' } = (await get('/')).headers;
  shown.targets = [site('a2')];
  assert.equal((await get('/', { 'if-none-match': etag })).code, 200);
});

test('since is a duration or a time, and anything else is 400', async () => {
  const { get } = await served();
  for (const since of ['12h', '7d', '90', '2026-03-02T06:00:00Z', ''])
    assert.equal((await get(`/?since=${since}`)).code, 200, since);
  for (const since of ['yesterday', '-1h', '1h&since=2h', `${'9'.repeat(30)}d`, encodeURIComponent('<b>')])
    for (const path of ['/', '/status.json']) {
      const { code, body } = await get(`${path}?since=${since}`);
      assert.equal(code, 400, since);
      assert.match(body, /give a duration like 12h/);
    }
});

test('with a secret, programs send it as bearer and browsers as password, and only /healthz needs none', async () => {
  const { get } = await served({ isLoopback: false, secret: () => Promise.resolve(SECRET), identity: null });
  const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });
  const right = [
    { authorization: `Bearer ${SECRET}` },
    { authorization: `bearer ${SECRET}` },
    basic(`me:${SECRET}`),
    basic(`:${SECRET}`),
  ];
  for (const headers of right) assert.equal((await get('/status.json', headers)).code, 200, JSON.stringify(headers));
  const wrong: Record<string, string>[] = [
    {},
    { authorization: SECRET },
    { authorization: `Bearer ${SECRET}x` },
    { authorization: 'Bearer' },
    ...[basic(`${SECRET}:`), basic('me:'), basic(`me:x:${SECRET}`), basic('')],
    { 'x-user': 'ana' },
  ];
  for (const headers of wrong)
    for (const path of ['/', '/status.json', '/sites/a2', '/board.js', '/nothing']) {
      const answer = await get(path, headers);
      assert.equal(answer.code, 401, `${path} ${JSON.stringify(headers)}`);
      assert.match(String(answer.headers['www-authenticate']), /^Basic realm="Belay board".*Bearer$/);
      assert.ok(!answer.body.includes(SECRET) && !answer.body.includes('a2'));
    }
  assert.equal((await get('/healthz')).code, 200);
  assert.equal((await get('/', { ...right[0], host: 'board.example' })).code, 200);
});

test('a header with an identity counts from a trusted proxy only', async () => {
  const from = (address: string) => {
    const proxies = new BlockList();
    proxies.addAddress(address);
    return served({ isLoopback: false, secret: null, identity: { header: 'x-forwarded-user', proxies } });
  };
  const { get } = await from('127.0.0.1');
  assert.equal((await get('/', { 'X-Forwarded-User': 'ana' })).code, 200);
  for (const headers of [{}, { 'x-forwarded-user': ' ' }, { 'x-user': 'ana' }])
    assert.equal((await get('/', headers as Record<string, string>)).code, 401);
  assert.equal((await (await from('127.0.0.2')).get('/', { 'x-forwarded-user': 'ana' })).code, 401);
});

test('beyond loopback, the board does not start without a secret or a trusted proxy', async () => {
  const file = join(await tempFolder(), 'secret');
  writeFileSync(file, 'short');
  const start = (more: object) => startBoard({ host: '127.0.0.1', port: 0, service: null, log, ...more });
  const wrong: [object, RegExp][] = [
    [{ host: '0.0.0.0' }, /beyond loopback, anyone could read the board: give --secret-file/],
    [{ host: '::' }, /beyond loopback/],
    [{ secretFile: file }, /at least 16/],
    [{ secretFile: `${file}-absent` }, /cannot be read \(ENOENT\)/],
    [{ identityHeader: 'x-user' }, /--identity-header and --trusted-proxy belong together/],
    [{ trustedProxy: ['10.0.0.1'] }, /belong together/],
    [{ identityHeader: 'Authorization', trustedProxy: ['10.0.0.1'] }, /--identity-header Authorization/],
    [{ identityHeader: 'x-user', trustedProxy: ['proxy.example'] }, /--trusted-proxy proxy\.example/],
    [{ identityHeader: 'x-user', trustedProxy: ['10.0.0.0/33'] }, /--trusted-proxy 10\.0\.0\.0\/33/],
    [{ host: '192.0.2.1', identityHeader: 'x-user', trustedProxy: ['10.0.0.0/8', '::1'] }, /no such address/],
  ];
  for (const [more, message] of wrong)
    await assert.rejects(start(more), (error: Error) => {
      assert.ok(error instanceof ConfigError, String(error));
      assert.match(error.message, message);
      return true;
    });
});

/** Lets virtual time pass while the board reads the service. @returns the requests */
async function readsIn(
  ms: number,
  ids: string[],
  {
    ceiling,
    ran = [],
    answer,
  }: {
    ceiling?: number;
    ran?: BoardSubject[];
    answer?: (count: number) => { code: number; headers?: Record<string, string> };
  },
) {
  let count = 0;
  const { url, requests } = await literalService((_request, response) => {
    const { code, headers } = answer?.((count += 1)) ?? { code: 200 };
    response.writeHead(code, { 'content-type': 'application/json', ...headers }).end('{"status":"building"}');
  });
  const service = { baseUrl: url, token: () => Promise.resolve('t') };
  const sites = new Map([['s1', { sites: ids }]]);
  const configuration = { fleets: { shop: { servers: sites } } };
  let time = 0;
  const source = serviceSource(
    ceiling === undefined ? service : { ...service, maxRequestsPerSecond: ceiling },
    () => configuration,
    () => ran,
    new Map(),
    () => time,
  );
  while (time < ms) time += (await source.read()) ?? source.everyMs;
  return requests.map((it) => it.split('/')[3]!);
}

test('the service gets two reads a second, or a tenth of the ceiling, the target read longest ago first', async () => {
  const ids = Array.from({ length: 30 }, (_, index) => `a${index}`);
  const free = await readsIn(60_000, ids, {});
  assert.equal(free.length, 120);
  assert.deepEqual(free.slice(0, 60), [...ids, ...ids]);
  assert.equal((await readsIn(60_000, ids, { ceiling: 5 })).length, 30);
});

test('a target is not read more often than every five seconds', async () => {
  assert.equal((await readsIn(60_000, ['a1', 'a2'], {})).length, 24);
});

test('a site that ran is read, though belay.yaml does not name it, and a server is not', async () => {
  const ran: BoardSubject[] = [
    { kind: 'site', id: 'a2' },
    { kind: 'site', id: 'a1' },
    { kind: 'server', id: 's1' },
  ];
  assert.deepEqual(await readsIn(5_000, ['a1'], { ran }), ['a1', 'a2']);
});

test('a service that asks for a pause gets none before its end', async () => {
  const pause = { code: 429, headers: { 'retry-after': '50' } };
  const answer = (count: number) => (count === 3 ? pause : { code: 200 });
  const asked = await readsIn(60_000, ['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7', 'a8', 'a9', 'a10'], { answer });
  // Three in the first second, and then none for 50.
  assert.deepEqual(asked.slice(0, 3), ['a1', 'a2', 'a3']);
  assert.ok(asked.length <= 3 + 18, String(asked.length));
});
