import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { RETRY_DELAYS_MS, type Subscription } from '../../../src/sandbox/deliveries.ts';
import type { DeliveryFault } from '../../../src/sandbox/faults.ts';
import type { SandboxEvent } from '../../../src/sandbox/announce.ts';
import { startSandbox, type Sandbox } from '../../../src/sandbox/server.ts';
import { atEnd } from '../../support/at-end.ts';
import { eventually } from '../../support/eventually.ts';

type Received = { atMs: number; headers: Record<string, string>; text: string } & SandboxEvent;
/** Returns the status to answer with, or answers itself. */
type Answer = (count: number, response: ServerResponse) => unknown;

const SECRET = `whsec_${Buffer.alloc(32, 'one').toString('base64')}`;
const OTHER_SECRET = `whsec_${Buffer.alloc(24, 'two').toString('base64')}`;

/** Starts an endpoint. `has` waits until it has received this many webhooks. */
async function receive(answer: Answer = () => 204) {
  const got: Received[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const headers = request.headers as Record<string, string>;
      got.push({ atMs: Date.now(), headers, text: body, ...(JSON.parse(body) as SandboxEvent) });
      const status = answer(got.length, response);
      if (typeof status === 'number') response.writeHead(status).end();
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  atEnd(async () => void server.close().closeAllConnections());
  const has = (count: number) => eventually(`${count} webhooks`, () => got.length >= count && got);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`, got, has };
}

/** Starts a sandbox whose operations continue until they are finished, with one subscribed endpoint. */
async function start(answer?: Answer, options: Partial<Subscription> = {}) {
  const receiver = await receive(answer);
  const script = { durationMs: 600_000, words: ['in progress'] };
  const sandbox = await startSandbox({ token: 'API_TOKEN', defaults: { backup: script, deployment: script } });
  atEnd(() => sandbox.close());
  sandbox.subscribe({ url: receiver.url, secret: SECRET, ...options });
  return { ...receiver, sandbox };
}

const verify = ({ text, headers }: Received, secret = SECRET) => new Webhook(secret).verify(text, headers);
const ask = (sandbox: Sandbox, method: string, path: string) =>
  fetch(sandbox.url + path, { method, headers: { Authorization: 'Bearer API_TOKEN' } });
const say = (sandbox: Sandbox, ...messages: string[]) =>
  messages.forEach((message) => sandbox.alert({ server: 's1', message }));
const said = (received: SandboxEvent[]) => received.map(({ data }) => data.message).join();
const ids = (received: Received[]) => new Set(received.map(({ headers }) => headers['webhook-id']));
const attemptsOf = ({ deliveries: [first] }: Sandbox, count: number) =>
  eventually(`${count} attempts`, () => first!.attempts.length >= count && first!.attempts);
const disturb = (sandbox: Sandbox, ...sendings: DeliveryFault['sending'][]) =>
  sandbox.faultDeliveries(...sendings.map((sending) => ({ sending })));

test('sends a signed webhook when a backup begins and when it ends', async () => {
  const { sandbox, has } = await start();
  sandbox.script({ server: 's1' }, { durationMs: 200 });
  const { id } = (await (await ask(sandbox, 'POST', '/v1/servers/s1/backups')).json()) as { id: string };
  // One may overtake the other.
  const got = (await has(2)).toSorted((a, b) => Date.parse(a.timestamp) - Date.parse(b.timestamp));
  assert.equal(got.map(({ type }) => type).join(), 'backup.started,backup.completed');
  for (const received of got) {
    const { headers, type, timestamp, data } = received;
    assert.deepEqual(verify(received), { type, timestamp, data });
    assert.deepEqual(data, { server_id: 's1', backup_id: id });
    assert.equal(headers['content-type'], 'application/json');
  }
  assert.equal(ids(got).size, 2);
  const tookMs = Date.parse(got[1]!.timestamp) - Date.parse(got[0]!.timestamp);
  assert.ok(tookMs >= 200, `${tookMs} ms`);
});

test('a read at the time of the end webhook shows the end, unless the latest endpoint lags', async () => {
  const read = async () => (await ask(sandbox, 'GET', '/v1/sites/a1/deployments/latest')).text();
  const statuses: string[] = [];
  const readFirst: Answer = (count, response) => {
    const isEnd = got[count - 1]!.type !== 'deployment.started';
    return read().then((body) => response.end(void (isEnd && statuses.push(body))));
  };
  const { sandbox, got } = await start(readFirst);
  sandbox.script({ site: 'a1' }, { durationMs: 500 }, { durationMs: 50, lagMs: 60_000, ends: 'failed' });
  await ask(sandbox, 'POST', '/v1/sites/a1/deploy');
  await eventually('a read at the end', () => statuses.length === 1);
  assert.deepEqual(statuses, ['{"status":"completed"}']);
  sandbox.act({ site: 'a1' });
  await eventually('another one', () => statuses.length === 2);
  assert.equal(sandbox.deliveries.at(-1)?.type, 'deployment.failed');
  assert.equal(statuses.at(-1), '{"status":"completed"}');
});

test('sends webhooks for foreign deployments, deletions and alerts', async () => {
  const { sandbox, has } = await start();
  sandbox.script({ site: 'a1' }, { durationMs: 100, ends: 'rolled_back' });
  sandbox.act({ site: 'a1' });
  await has(2);
  sandbox.remove({ site: 'a1' });
  sandbox.remove({ server: 's1' });
  say(sandbox, 'disk full');
  const sent = sandbox.deliveries.map(({ type, body }) => `${type} ${Object.entries(body.data).join(' ')}`).join();
  const deployment = 'deployment.started site_id,a1,deployment.rolled_back site_id,a1,';
  const deletions = 'resource.deleted site_id,a1,resource.deleted server_id,s1,';
  assert.equal(sent, `${deployment}${deletions}alert.fired server_id,s1 message,disk full`);
});

test('sends one end webhook when an operation ends early, or when an endless one is finished', async () => {
  const { sandbox } = await start();
  const sentSince = (from: number) =>
    sandbox.deliveries.slice(from).map(({ type, body }) => `${type} of ${body.data.server_id}`);
  sandbox.script({ server: 'early' }, { durationMs: 300 });
  sandbox.script({ server: 'never' }, { durationMs: 20, ends: 'never' });
  sandbox.script({ server: 'far off' }, { durationMs: 2 ** 31 });
  sandbox.script({ server: 'put off' }, { durationMs: 20 });
  for (const server of ['early', 'never', 'far off', 'put off']) sandbox.act({ server });
  sandbox.finish({ server: 'put off' }, 'never');
  sandbox.finish({ server: 'early' }, 'failed');
  await sleep(0);
  assert.deepEqual(sentSince(4), ['backup.failed of early']);
  sandbox.finish({ server: 'early' }, 'completed');
  await sleep(350);
  assert.deepEqual(sentSince(5), []);
  sandbox.finish({ server: 'never' }, 'completed');
  await sleep(0);
  assert.deepEqual(sentSince(5), ['backup.completed of never']);
});

test('every endpoint gets webhooks with its own signature, even for operations that began before it subscribed', async () => {
  const { sandbox, has } = await start();
  const later = await receive();
  sandbox.act({ site: 'a1' });
  sandbox.subscribe({ url: later.url, secret: OTHER_SECRET });
  sandbox.finish({ site: 'a1' }, 'completed');
  const [mine, theirs] = [(await has(2))[1]!, (await later.has(1))[0]!];
  assert.deepEqual(verify(mine), verify(theirs, OTHER_SECRET));
  assert.equal(ids([mine, theirs]).size, 1);
});

test('the default retry schedule follows the text of Standard Webhooks', () => {
  const clock = (ms: number) => [ms / 3_600_000, (ms / 60_000) % 60, (ms / 1_000) % 60].map(Math.floor).join(':');
  let sinceStartMs = 0;
  const times = RETRY_DELAYS_MS.map((delayMs) => clock((sinceStartMs += delayMs)));
  assert.equal(times.join(' '), '0:0:5 0:5:5 0:35:5 2:35:5 7:35:5 17:35:5 31:35:5 51:35:5 75:35:5');
});

test('a delivery without a 2xx answer is retried on schedule under one id and never follows a redirect', async () => {
  const elsewhere = await receive();
  const bad: Answer = (count, response) => {
    if (count === 2) response.setHeader('location', elsewhere.url);
    if (count === 3) response.socket?.resetAndDestroy();
    if (count === 5) response.writeHead(299).write('an answer without end');
    return [500, 307][count - 1];
  };
  const { sandbox, got } = await start(bad, { retryDelaysMs: [50, 150, 20, 20, 20], timeoutMs: 5_000 });
  say(sandbox, 'again');
  const attempts = await attemptsOf(sandbox, 5);
  const ends = attempts.map(({ answered, wrong }) => wrong ?? answered).join();
  assert.equal(ends, 'answered 500,answered 307,ECONNRESET,no answer in 5000 ms,299');
  await sleep(60);
  assert.deepEqual([said(got), ids(got).size], ['again,again,again,again,again', 1]);
  got.forEach((received) => verify(received));
  const [first, second, third] = attempts.map(({ at }) => Date.parse(at));
  assert.ok(second! - first! >= 50 && third! - second! >= 150, JSON.stringify(attempts));
  assert.deepEqual(elsewhere.got, []);
});

test('a retry waits for a valid Retry-After and is signed again', async () => {
  const busy: Answer = (count, response) => {
    response.setHeader('retry-after', ['0', '60', 'soon', '1', '60'][count - 1]!);
    return [429, 500, 502, 503, 204][count - 1];
  };
  const { sandbox, has } = await start(busy, { retryDelaysMs: [100, 100, 100, 100] });
  say(sandbox, 'busy');
  const got = await has(5);
  const atMs = (await attemptsOf(sandbox, 5)).map(({ at }) => Date.parse(at));
  const seen = atMs.slice(1).map((ms, index) => ms - atMs[index]!);
  [100, 100, 100, 1_000].forEach((ms, index) => assert.ok(seen[index]! >= ms, seen.join()));
  assert.notEqual(got[4]!.headers['webhook-timestamp'], got[3]!.headers['webhook-timestamp']);
  verify(got[4]!);
});

test('an endpoint that answers 410 gets no more webhooks until it subscribes again', async () => {
  const { sandbox, url, got, has } = await start((count) => (count === 1 ? 410 : 204), { retryDelaysMs: [20] });
  // The first one is sent once "gone" is answered, and the other one once "back" is.
  sandbox.faultDeliveries({ sending: { kind: 'defer' } }, { skip: 1, sending: { kind: 'defer' } });
  say(sandbox, 'late', 'gone', 'later');
  await eventually('the answer 410', () => sandbox.deliveries[1]!.attempts[0]?.answered === 410);
  say(sandbox, 'to no endpoint');
  await sleep(100);
  assert.equal(said(got), 'gone');
  sandbox.subscribe({ url, secret: OTHER_SECRET });
  say(sandbox, 'back');
  (await has(3)).slice(1).forEach((received) => verify(received, OTHER_SECRET));
  assert.equal(said(got), 'gone,back,later');
  assert.equal(said(sandbox.deliveries.map(({ body }) => body)), 'late,gone,later,back');
});

test('a repeated delivery arrives at once or later under one id', async () => {
  const { sandbox, has } = await start();
  disturb(sandbox, { kind: 'repeat', copies: 2 }, { kind: 'repeat', copies: 1, intervalMs: 200 });
  say(sandbox, 'at once');
  await has(3);
  say(sandbox, 'later');
  const got = await has(5);
  got.forEach((received) => verify(received));
  assert.equal(said(got), 'at once,at once,at once,later,later');
  assert.equal(ids(got).size, 2);
  assert.ok(got[4]!.atMs - Date.parse(got[4]!.timestamp) >= 200, 'the copy arrived early');
  assert.equal((await attemptsOf(sandbox, 3)).length, 3);
});

test('deliveries can be delayed, deferred until the next one is answered, or dropped', async () => {
  const { sandbox, has } = await start((_count, response) => setTimeout(() => response.end(), 50));
  disturb(sandbox, { kind: 'delay', delayMs: 1_000 }, { kind: 'defer' }, { kind: 'defer' }, { kind: 'drop' });
  say(sandbox, 'late', 'held', 'held', 'lost', 'next');
  const got = await has(4);
  got.forEach((received) => verify(received));
  const [late, ...others] = got.toSorted(
    (a, b) => Number(b.data.message === 'late') - Number(a.data.message === 'late'),
  );
  assert.equal(said(others), 'next,held,held');
  assert.ok(others[1]!.atMs - others[0]!.atMs >= 45, 'the next delivery was not answered yet');
  assert.ok(late!.atMs - Date.parse(late!.timestamp) >= 1_000, 'not late, or dated late');
  say(sandbox, 'last');
  await has(5);
  assert.deepEqual([got.at(-1)?.data.message, sandbox.deliveries[3]?.attempts], ['last', []]);
});

test('a delivery can be forged with its retries, or correctly signed and an hour old', async () => {
  const { sandbox, has } = await start((count) => (count < 3 ? 401 : 204), { retryDelaysMs: [20] });
  disturb(sandbox, { kind: 'forge' }, { kind: 'stale' });
  say(sandbox, 'forged');
  for (const received of await has(2)) assert.throws(() => verify(received), /No matching signature/);
  say(sandbox, 'old');
  const old = (await has(3))[2]!;
  assert.throws(() => verify(old), /too old/);
  const [id, seconds] = [old.headers['webhook-id']!, Number(old.headers['webhook-timestamp'])];
  const [sent] = await eventually(
    'its attempt',
    () => sandbox.deliveries[1]!.attempts.length > 0 && sandbox.deliveries[1]!.attempts,
  );
  assert.equal(seconds, Math.floor(Date.parse(sent!.at) / 1_000) - 3_600);
  assert.equal(old.headers['webhook-signature'], new Webhook(SECRET).sign(id, new Date(seconds * 1_000), old.text));
});

test('delivery faults apply in order, by type and for the requested number of deliveries', async () => {
  const { sandbox } = await start();
  sandbox.faultDeliveries({ type: 'deployment.started', sending: { kind: 'stale' } });
  sandbox.faultDeliveries({ skip: 1, times: 2, sending: { kind: 'drop' } }, { sending: { kind: 'forge' } });
  say(sandbox, '1', '2', '3', '4');
  sandbox.act({ site: 'a1' });
  assert.equal(sandbox.deliveries.map(({ fault }) => fault ?? 'none').join(), 'forge,drop,drop,none,stale');
});

test('close stops retries, pending ends, delayed deliveries and deliveries in progress', async () => {
  // On a slow machine, some of that may come before the sandbox is closed. Then it is given more time.
  let delayMs = 1_000;
  while (!(await closesWithin(delayMs))) delayMs *= 2;
});

/** @returns whether it was closed before anything was due */
async function closesWithin(delayMs: number): Promise<boolean> {
  const beganMs = Date.now();
  const { sandbox, got, has } = await start(() => 500, { retryDelaysMs: [delayMs] });
  let isCut = false;
  const silent = await receive((_count, response) => response.once('close', () => (isCut = true)));
  sandbox.faultDeliveries({ type: 'backup.started', sending: { kind: 'delay', delayMs } });
  sandbox.script({ server: 's1' }, { durationMs: delayMs });
  sandbox.act({ server: 's1' });
  say(sandbox, 'refused');
  await has(1);
  sandbox.subscribe({ url: silent.url, secret: SECRET });
  say(sandbox, 'under way');
  await Promise.all([silent.has(1), eventually('an answer', () => sandbox.deliveries[2]?.attempts.length === 1)]);
  const closing = sandbox.close();
  const isInTime = Date.now() - beganMs < delayMs;
  await closing;
  if (!isInTime) return false;
  say(sandbox, 'too late');
  await sleep(delayMs + 50);
  assert.deepEqual([said(got), said(silent.got), isCut], ['refused,under way', 'under way', true]);
  assert.equal(sandbox.deliveries.map(({ attempts }) => attempts.length).join(), '0,1,1,0,0,0');
  return true;
}

const postJson = (url: string, body: object) =>
  fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });

test('other processes subscribe, inject faults and inspect over HTTP without seeing a secret or path', async () => {
  const { sandbox } = await start(undefined, { url: 'http://127.0.0.1:9/hidden?key=hidden', retryDelaysMs: [] });
  const { url, has } = await receive();
  const control = async (path: string, body: object) => (await postJson(`${sandbox.url}/sandbox/${path}`, body)).status;
  assert.equal(await control('subscriptions', { url, secret: SECRET }), 204);
  assert.equal(await control('delivery-faults', [{ skip: 1, sending: { kind: 'repeat', copies: 1 } }]), 204);
  assert.equal(await control('alert', { server: 's1', message: 'disk full' }), 204);
  const { headers, text: sent } = (await has(2))[0]!;
  const [closed, open] = sandbox.deliveries;
  await eventually('all attempts', () => closed?.attempts[0]?.wrong && open?.attempts.length === 2);
  const answer = await (await fetch(`${sandbox.url}/sandbox/deliveries`)).text();
  assert.deepEqual(JSON.parse(answer), sandbox.deliveries);
  const { id, type, to, fault, body } = open!;
  assert.deepEqual([id, type, to, fault], [headers['webhook-id'], 'alert.fired', new URL(url).host, 'repeat']);
  assert.equal(JSON.stringify(body), sent);
  assert.ok(!/hidden|whsec/.test(answer) && !answer.includes(SECRET.slice('whsec_'.length)), answer);
  assert.deepEqual(sandbox.journal, []);
});

test('a malformed webhook command is rejected with the reason, which does not repeat its input', async () => {
  const { sandbox, url } = await start();
  for (const [path, body, wrong] of [
    ['subscriptions', { url, secret: 'whsec_not base64' }, /secret/],
    ['subscriptions', { url, secret: SECRET.slice('whsec_'.length) }, /secret/],
    ['subscriptions', { url: 'ftp://127.0.0.1/hooks', secret: SECRET }, /url/],
    ['delivery-faults', [{ sending: { kind: 'lose' } }], /kind/],
    ['alert', { server: 's1', text: '' }, /text/],
  ] as const) {
    const response = await postJson(`${sandbox.url}/sandbox/${path}`, body);
    const answer = `${response.status}: ${await response.text()}`;
    assert.ok(/^400/.test(answer) && wrong.test(answer) && !/base64"|whsec_[^ ]{4}/.test(answer), answer);
  }
});
