import assert from 'node:assert/strict';
import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect as dial, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { before, describe, test } from 'node:test';
import type { Configuration } from '../../../src/config/file/file-schema.ts';
import type { EventResult } from '../../../src/contract/event.ts';
import { eventId } from '../../../src/contract/ids/workflow-ids.ts';
import { atEnd } from '../../support/at-end.ts';
import { eventually } from '../../support/eventually.ts';
import { startWebhooks } from '../../support/processes.ts';
import { SECRET, secretFile, signed, startReceiver, type Receiver } from '../../support/receiver.ts';
import { startDurableTemporal, tempFolder } from '../../support/temporal.ts';
import { allHistories, assertNowhere } from '../../support/token.ts';
import {
  addWorker,
  startTestStack,
  TASK_QUEUE,
  temporalEnv,
  TOKEN,
  workerLog,
  type TestStack,
} from '../../support/world.ts';

const NEW_SECRET = `whsec_${Buffer.alloc(32, 'new').toString('base64')}`;
const HMAC_SECRET = 'key of the generic source';
const ALERT = { type: 'alert.fired', data: { message: 'disk full' } };
const TYPE = { 'content-type': 'application/json' };

let configuration: Configuration;
let world: TestStack;
let receiver: Receiver;
let rotating: { file: string };
/** What the notification channel received: the ids of the events and the full text. */
const sent: { id: string; text: string }[] = [];
const ended: string[] = [];

before(async () => {
  configuration = { notify: { targets: { chat: await secretFile(await startTarget()) } } };
  world = await startTestStack({ configuration });
  rotating = await secretFile(SECRET);
  const hmac = {
    verify: 'hmac-sha256' as const,
    secrets: [await secretFile(HMAC_SECRET)],
    header: 'X-Hub-Signature-256',
  };
  const sources = {
    rotating: { verify: 'standard-webhooks' as const, secrets: [rotating] },
    hub: { ...hmac, prefix: 'sha256=' },
    named: { ...hmac, encoding: 'base64' as const, idHeader: 'X-Delivery' },
  };
  receiver = await startReceiver(world, { events: { sources } });
});

async function startTarget(): Promise<string> {
  const server = createServer((request, response) => {
    const id = String(request.headers['idempotency-key']);
    void text(request).then((body) => response.end(String(sent.push({ id, text: body }))));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  atEnd(async () => void server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/chat`;
}

const hmacOf = (body: string, encoding: 'hex' | 'base64' = 'hex') =>
  createHmac('sha256', HMAC_SECRET).update(body).digest(encoding);

const post = (url: string, source: string, body: string, headers: Record<string, string>) =>
  fetch(`${url}/webhooks/${source}`, { method: 'POST', headers: { ...TYPE, ...headers }, body });

const countOf = async (prefix: string) =>
  (await world.client.workflow.count(`WorkflowId STARTS_WITH "${prefix}"`)).count;

const resultOf = (id: string) => world.client.workflow.getHandle(id).result() as Promise<EventResult>;

/** The ids of these events in the notifications, one per notification. */
const sentOf = (events: string[]) => sent.flatMap(({ id }) => (events.includes(id) ? [id] : [])).toSorted();

const statusesOf = (responses: Response[]) => responses.map(({ status }) => status);

test('a replaced secret file applies from the next delivery', async () => {
  const deliver = async (secret: string) => (await receiver.deliver(ALERT, { source: 'rotating', secret })).status;
  assert.deepEqual([await deliver(SECRET), await deliver(NEW_SECRET)], [202, 401]);
  writeFileSync(rotating.file, NEW_SECRET);
  assert.deepEqual([await deliver(SECRET), await deliver(NEW_SECRET)], [401, 202]);
  writeFileSync(rotating.file, '');
  const response = await receiver.deliver(ALERT, { source: 'rotating', secret: NEW_SECRET });
  assert.deepEqual([response.status, response.headers.get('retry-after')], [503, '10'], 'our fault: it is sent again');
});

test('a duplicate delivery gets 200 and the same answer, even with another body', async () => {
  const deliver = async (note: string) => {
    const response = await receiver.deliver({ ...ALERT, note }, { id: 'repeated' });
    return [response.status, await response.json()];
  };
  const event = eventId('panel', 'repeated');
  assert.deepEqual(await deliver('first'), [202, { event, repeated: false }]);
  for (const note of ['first', 'second']) assert.deepEqual(await deliver(note), [200, { event, repeated: true }]);
});

test('an equal body from a generic source without ids is a duplicate', async () => {
  const [body, other] = ['{"type":"alert.fired","n":1}', '{"type":"alert.fired","n":2}'];
  const deliver = (it: string) => post(receiver.url, 'hub', it, { 'x-hub-signature-256': `sha256=${hmacOf(it)}` });
  const responses = [await deliver(body), await deliver(body), await deliver(other)];
  assert.deepEqual(statusesOf(responses), [202, 200, 202]);
  const [first, second] = (await Promise.all(responses.map((it) => it.json()))) as { event: string }[];
  assert.equal(first?.event, second?.event);
  await eventually('both', async () => (await countOf('event:hub:')) === 2);
});

test('the id header of a generic source distinguishes equal bodies', async () => {
  const body = JSON.stringify(ALERT);
  const signature = hmacOf(body, 'base64');
  const deliver = (id: string) =>
    post(receiver.url, 'named', body, { 'x-hub-signature-256': signature, 'x-delivery': id });
  assert.deepEqual(statusesOf([await deliver('n1'), await deliver('n2'), await deliver('n1')]), [202, 202, 200]);
  assert.deepEqual(await resultOf(eventId('named', 'n1')), { woken: [], shared: false, notified: ['chat'] });
});

test('an event with malformed Unicode or ids of maximum length is handled like any other', async () => {
  const long = JSON.stringify('😀'.repeat(100));
  for (const [id, ids] of Object.entries({ half: '"site":"\\udfff"', long: `"server":${long},"backup":${long}` })) {
    await receiver.deliver(`{"type":"alert \\ud800 fired",${ids}}`, { id });
    await eventually('its notification', () => sentOf([eventId('panel', id)]).length === 1);
  }
});

test('250 deliveries of 50 events in random order start 50 workflows and send 50 notifications', async () => {
  const ids = Array.from({ length: 250 }, (_, index) => `flood${index % 50}`);
  const rest = ids.map((id) => ({ id, at: Math.random() })).sort((a, b) => a.at - b.at);
  const statuses: number[] = [];
  const send = async () => {
    for (let it = rest.pop(); it; it = rest.pop()) statuses.push((await receiver.deliver(ALERT, { id: it.id })).status);
  };
  await Promise.all(Array.from({ length: 20 }, send));
  const count = (status: number) => statuses.filter((it) => it === status).length;
  assert.deepEqual([count(202), count(200)], [50, 200]);
  const flood = [...new Set(ids)].map((id) => eventId('panel', id)).toSorted();
  await Promise.all(flood.map((id) => resultOf(id)));
  assert.deepEqual(sentOf(flood), flood);
  await eventually('all of them', async () => (await countOf('event:panel:flood')) === 50);
  const metrics = (await receiver.metrics()).join('\n');
  assert.match(metrics, /^belay_webhooks_accepted_total\{source="panel",kind="alert.fired"\} 5\d$/m);
});

describe('belay webhooks', { concurrency: 3 }, () => {
  test('answers 503 without Temporal and handles the retried deliveries when it is back', async () => {
    const temporal = await startDurableTemporal();
    const { address } = temporal.server;
    const receiver = await startReceiver({ address, namespace: 'default' });
    const { url } = receiver;
    const deliver = (id: string) => receiver.deliver(ALERT, { id });
    const ids = Array.from({ length: 30 }, (_, index) => `down${index}`);
    const deliverAll = () => Promise.all(ids.map(deliver));
    assert.equal((await deliver('before')).status, 202);
    const look = async () => [(await fetch(`${url}/healthz`)).status, (await fetch(`${url}/readyz`)).status];
    assert.deepEqual(await look(), [200, 200]);
    process.kill(temporal.server.pid, 'SIGKILL');
    await temporal.server.ended;
    const refused = await deliverAll();
    for (const { status, headers } of refused) assert.deepEqual([status, headers.get('retry-after')], [503, '10']);
    assert.deepEqual(await eventually('the loss', async () => (await look())[1] === 503 && look()), [200, 503]);
    await temporal.restart();
    await eventually('Temporal', async () => (await look())[1] === 200);
    assert.deepEqual(new Set(statusesOf(await deliverAll())), new Set([202]));
    assert.equal((await deliver('before')).status, 200);
    await addWorker({ address, namespace: 'default' }, TASK_QUEUE, world.sandbox.url, configuration);
    const all = [...ids, 'before'].map((id) => eventId('panel', id)).toSorted();
    await eventually('their handling', () => sentOf(all).length === all.length);
    assert.deepEqual(sentOf(all), all);
  });

  const configured = async (yaml: string) => {
    const BELAY_CONFIG = join(await tempFolder(), 'belay.yaml');
    writeFileSync(BELAY_CONFIG, yaml);
    return { BELAY_CONFIG, ...temporalEnv(world), PANEL_SECRET: SECRET };
  };
  const panel = (secret: string) =>
    `events: { sources: { panel: { verify: standard-webhooks, secrets: [{ ${secret} }] } } }`;

  const startProcess = async () => startWebhooks(await configured(panel('env: PANEL_SECRET')));

  test('prints its address in one line of JSON, accepts deliveries, and exits 0 on a signal', async () => {
    const { url, line, process: child, finished } = await startProcess();
    assert.match(line, /"sources":\["panel"\]/);
    assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/);
    const body = JSON.stringify({ ...ALERT, token: TOKEN, note: `it is ${SECRET}` });
    assert.equal((await post(url, 'panel', body, signed(body, { id: 'to-process' }))).status, 202);
    assert.equal((await post(url, 'panel', body, {})).status, 401);
    child.kill('SIGTERM');
    const { code, stdout, stderr } = await finished;
    assert.deepEqual([code, stdout], [0, '']);
    ended.push(stderr);
  });

  test('finishes a delivery in progress when it is stopped', async () => {
    const { url, process: child, output, finished } = await startProcess();
    const body = JSON.stringify(ALERT);
    const headers = { ...TYPE, ...signed(body), host: 'x', 'content-length': String(body.length) };
    const lines = Object.entries(headers).map((header) => header.join(': '));
    const socket = dial(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined);
    const answer = text(socket).catch(() => 'cut off');
    socket.write(`POST /webhooks/panel HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body.slice(0, 9)}`);
    const metrics = async () => (await fetch(`${url}/metrics`)).text();
    await eventually('half the delivery', async () => (await metrics()).includes('received_total{source="panel"} 1'));
    child.kill('SIGTERM');
    await eventually('the log line', () => output.stderr.includes('stopping'));
    socket.write(body.slice(9));
    assert.match(await answer, /^HTTP\/1\.1 202 /);
    assert.equal((await finished).code, 0);
  });
});

test('no log, history, metric or notification contains a webhook secret or the value of a key named like one', async () => {
  const secrets = { token: TOKEN, nested: [{ password: TOKEN, authorization: `Bearer ${TOKEN}` }] };
  const body = { ...ALERT, ...secrets, note: `ours is ${SECRET}`, link: `https://u:${TOKEN}@host/?token=${TOKEN}` };
  assert.equal((await receiver.deliver(body, { id: `canary-${randomUUID()}` })).status, 202);
  await resultOf(eventId('panel', 'to-process'));
  const texts = { ...(await allHistories(world.client)), log: workerLog(), processes: ended.join('') };
  const others = { metrics: (await receiver.metrics()).join('\n'), sent: sent.map((it) => it.text).join('\n') };
  for (const secret of [TOKEN, SECRET, SECRET.slice(6), HMAC_SECRET, NEW_SECRET])
    assertNowhere(secret, { ...texts, ...others }, 'disk full');
});
