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
import { verifyHmac, verifyStandard, type HmacOptions } from '../../../src/webhooks/verify-signature.ts';
import { eventId } from '../../../src/contract/ids/workflow-ids.ts';
import { atEnd } from '../../support/at-end.ts';
import { eventually } from '../../support/eventually.ts';
import { run, startWebhooks } from '../../support/processes.ts';
import { SECRET, secretFile, signed, startReceiver, type Receiver } from '../../support/receiver.ts';
import { startDurableTemporal, tempFolder } from '../../support/temporal.ts';
import { allHistories, assertNowhere } from '../../support/token.ts';
import { addWorker, startWorld, TASK_QUEUE, TOKEN, workerLog, type World } from '../../support/world.ts';

const NEW_SECRET = `whsec_${Buffer.alloc(32, 'new').toString('base64')}`;
const BAD_SECRET = 'whsec_no-base64!';
const HMAC_SECRET = 'key of the generic source';
const ALERT = { type: 'alert.fired', data: { message: 'disk full' } };
const TYPE = { 'content-type': 'application/json' };

let configuration: Configuration;
let world: World;
let receiver: Receiver;
let rotating: { file: string };
/** What the notification target was told: the ids of the events, and all of it. */
const told: { id: string; text: string }[] = [];
const ended: string[] = [];

before(async () => {
  configuration = { notify: { targets: { chat: await secretFile(await startTarget()) } } };
  world = await startWorld({ configuration });
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
    void text(request).then((body) => response.end(String(told.push({ id, text: body }))));
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

/** Those of these events that the target was told of, as often as it was. */
const toldOf = (events: string[]) => told.flatMap(({ id }) => (events.includes(id) ? [id] : [])).toSorted();

const statusesOf = (responses: Response[]) => responses.map(({ status }) => status);

/** Known from the text of Standard Webhooks, and from all its libraries. */
const VECTOR = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  seconds: 1_614_265_330,
  body: '{"test": 2432232314}',
  signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
};

/** Standard Webhooks as its text has it, without its library. */
function standard(seconds: number, { secret, id, body } = VECTOR) {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': `v1,${signature}` };
}

describe('verification', () => {
  const now = () => Math.floor(Date.now() / 1000);
  const judge = (headers: Record<string, string>, secrets = [VECTOR.secret]) =>
    verifyStandard(secrets, headers, Buffer.from(VECTOR.body));

  test('who makes the known signature of Standard Webhooks is believed today, and only for five minutes', () => {
    assert.equal(standard(VECTOR.seconds)['webhook-signature'], VECTOR.signature);
    assert.equal(judge(standard(now())), null);
    assert.equal(judge(standard(now() - 290)), null);
    assert.equal(judge(standard(now() + 290)), null);
    for (const seconds of [VECTOR.seconds, now() - 310, now() + 310])
      assert.equal(judge(standard(seconds)), 'bad_time');
  });

  test('one of several secrets is enough, and one of several signatures', () => {
    const headers = standard(now());
    const signature = headers['webhook-signature'];
    assert.equal(judge(headers, [NEW_SECRET, VECTOR.secret]), null);
    assert.equal(judge(headers, [NEW_SECRET]), 'bad_signature');
    assert.equal(judge({ ...headers, 'webhook-signature': `v1a,x v1,AAAA ${signature}` }), null);
    assert.equal(judge({ ...headers, 'webhook-signature': signature.replace('v1', 'v2') }), 'bad_signature');
  });

  test('a generic HMAC is believed as it is configured, and not otherwise', () => {
    const [hex, base64] = [hmacOf('{"a":1}'), hmacOf('{"a":1}', 'base64')];
    const judge = (value: string, options: Partial<HmacOptions> = {}) =>
      verifyHmac({ header: 'X-Sign', ...options })(['other', HMAC_SECRET], { 'x-sign': value }, Buffer.from('{"a":1}'));
    const prefix = { prefix: 'sha256=' };
    for (const doubt of [judge(hex), judge(base64, { encoding: 'base64' }), judge(`sha256=${hex}`, prefix)])
      assert.equal(doubt, null);
    for (const doubt of [judge(hex, prefix), judge(base64), judge(hex.slice(2)), judge(hmacOf('{"a":2}'))])
      assert.equal(doubt, 'bad_signature');
    assert.equal(judge(' '), 'no_signature');
  });
});

test('a secret file that is replaced counts from the next delivery on', async () => {
  const deliver = async (secret: string) => (await receiver.deliver(ALERT, { source: 'rotating', secret })).status;
  assert.deepEqual([await deliver(SECRET), await deliver(NEW_SECRET)], [202, 401]);
  writeFileSync(rotating.file, NEW_SECRET);
  assert.deepEqual([await deliver(SECRET), await deliver(NEW_SECRET)], [401, 202]);
  writeFileSync(rotating.file, '');
  const response = await receiver.deliver(ALERT, { source: 'rotating', secret: NEW_SECRET });
  assert.deepEqual([response.status, response.headers.get('retry-after')], [503, '10'], 'our fault: it is sent again');
});

test('a repeat gets 200 and the same answer, whatever its body is by then', async () => {
  const deliver = async (note: string) => {
    const response = await receiver.deliver({ ...ALERT, note }, { id: 'repeated' });
    return [response.status, await response.json()];
  };
  const event = eventId('panel', 'repeated');
  assert.deepEqual(await deliver('first'), [202, { event, repeated: false }]);
  for (const note of ['first', 'second']) assert.deepEqual(await deliver(note), [200, { event, repeated: true }]);
});

test('without an id, an equal body of a generic source is a repeat', async () => {
  const [body, other] = ['{"type":"alert.fired","n":1}', '{"type":"alert.fired","n":2}'];
  const deliver = (it: string) => post(receiver.url, 'hub', it, { 'x-hub-signature-256': `sha256=${hmacOf(it)}` });
  const responses = [await deliver(body), await deliver(body), await deliver(other)];
  assert.deepEqual(statusesOf(responses), [202, 200, 202]);
  const [first, second] = (await Promise.all(responses.map((it) => it.json()))) as { event: string }[];
  assert.equal(first?.event, second?.event);
  await eventually('both', async () => (await countOf('event:hub:')) === 2);
});

test('the header that names the id of a generic delivery tells equal bodies apart', async () => {
  const body = JSON.stringify(ALERT);
  const signature = hmacOf(body, 'base64');
  const deliver = (id: string) =>
    post(receiver.url, 'named', body, { 'x-hub-signature-256': signature, 'x-delivery': id });
  assert.deepEqual(statusesOf([await deliver('n1'), await deliver('n2'), await deliver('n1')]), [202, 202, 200]);
  assert.deepEqual(await resultOf(eventId('named', 'n1')), { woken: [], shared: false, notified: ['chat'] });
});

test('an event is handled like any other where its words are no Unicode, or its ids of the longest', async () => {
  const long = JSON.stringify('😀'.repeat(100));
  for (const [id, ids] of Object.entries({ half: '"site":"\\udfff"', long: `"server":${long},"backup":${long}` })) {
    await receiver.deliver(`{"type":"alert \\ud800 fired",${ids}}`, { id });
    await eventually('the word of it', () => toldOf([eventId('panel', id)]).length === 1);
  }
});

test('1,000 deliveries of 200 events in random order are 200 workflows, and each is told of once', async () => {
  const ids = Array.from({ length: 1_000 }, (_, index) => `flood${index % 200}`);
  const rest = ids.map((id) => ({ id, at: Math.random() })).sort((a, b) => a.at - b.at);
  const statuses: number[] = [];
  const send = async () => {
    for (let it = rest.pop(); it; it = rest.pop()) statuses.push((await receiver.deliver(ALERT, { id: it.id })).status);
  };
  await Promise.all(Array.from({ length: 20 }, send));
  const count = (status: number) => statuses.filter((it) => it === status).length;
  assert.deepEqual([count(202), count(200)], [200, 800]);
  const flood = [...new Set(ids)].map((id) => eventId('panel', id)).toSorted();
  await Promise.all(flood.map((id) => resultOf(id)));
  assert.deepEqual(toldOf(flood), flood);
  await eventually('all of them', async () => (await countOf('event:panel:flood')) === 200);
  const metrics = (await receiver.metrics()).join('\n');
  assert.match(metrics, /^belay_webhooks_taken_total\{source="panel",kind="alert.fired"\} 20\d$/m);
});

describe('belay webhooks', { concurrency: 3 }, () => {
  test('without Temporal every delivery gets 503, and what is repeated when it is back is handled', async () => {
    const temporal = await startDurableTemporal();
    const { address } = temporal.server;
    const receiver = await startReceiver({ address });
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
    assert.deepEqual(await look(), [200, 503]);
    await temporal.restart();
    await eventually('Temporal', async () => (await look())[1] === 200);
    assert.deepEqual(new Set(statusesOf(await deliverAll())), new Set([202]));
    assert.equal((await deliver('before')).status, 200);
    await addWorker({ address }, TASK_QUEUE, world.sandbox.url, configuration);
    const all = [...ids, 'before'].map((id) => eventId('panel', id)).toSorted();
    await eventually('their handling', () => toldOf(all).length === all.length);
    assert.deepEqual(toldOf(all), all);
  });

  const configured = async (yaml: string) => {
    const BELAY_CONFIG = join(await tempFolder(), 'belay.yaml');
    writeFileSync(BELAY_CONFIG, yaml);
    return { BELAY_CONFIG, TEMPORAL_ADDRESS: world.address, PANEL_SECRET: SECRET, BAD: BAD_SECRET };
  };
  const panel = (secret: string) =>
    `events: { sources: { panel: { verify: standard-webhooks, secrets: [{ ${secret} }] } } }`;

  const startProcess = async () => startWebhooks(await configured(panel('env: PANEL_SECRET')));

  test('it says in one line of JSON where it listens, takes deliveries, and ends with 0 when asked to', async () => {
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

  test('a delivery under way when it is stopped is let finish', async () => {
    const { url, process: child, output, finished } = await startProcess();
    const body = JSON.stringify(ALERT);
    const headers = { ...TYPE, ...signed(body), host: 'x', 'content-length': String(body.length) };
    const lines = Object.entries(headers).map((header) => header.join(': '));
    const socket = dial(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined);
    const answer = text(socket).catch(() => 'cut off');
    socket.write(`POST /webhooks/panel HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body.slice(0, 9)}`);
    const metrics = async () => (await fetch(`${url}/metrics`)).text();
    await eventually('the half', async () => (await metrics()).includes('received_total{source="panel"} 1'));
    child.kill('SIGTERM');
    await eventually('the word', () => output.stderr.includes('stopping'));
    socket.write(body.slice(9));
    assert.match(await answer, /^HTTP\/1\.1 202 /);
    assert.equal((await finished).code, 0);
  });

  const everywhere = ['--host', '0.0.0.0'];
  const noVerifier = 'events: { sources: { open: { verify: none } } }';
  const TAKEN = 'taken';
  const refusals: [string, yaml: string, args: string[], RegExp][] = [
    ['other hosts without sources', '', everywhere, /nobody could be verified: name events.sources in belay.yaml/],
    ['other hosts with an open source', noVerifier, everywhere, /sources.open verifies nobody: see docs.events.md/],
    ['a foreign address', panel('env: PANEL_SECRET'), ['--host', '192.0.2.1'], /this machine has no such address/],
    ['a port that is taken', '', ['--port', TAKEN], /port \d+ is taken: choose another one/],
    ['a file that is not there', panel('file: /nowhere'), [], /panel.secrets.0: .nowhere cannot be read .ENOENT/],
    ['a variable that is not set', panel('env: NONE'), [], /panel.secrets.0: the variable NONE is not set/],
    ['a secret that can be none', panel('env: BAD'), [], /panel.secrets.0: .* is no Standard Webhooks secret: write/],
    ['a secret in belay.yaml', panel(`value: ${NEW_SECRET}`), [], /belay.yaml:1: .*write { file: PATH } or { env: N/],
  ];
  for (const [what, yaml, args, message] of refusals) {
    test(`it refuses ${what} with 2, and names the remedy`, async () => {
      const given = args.map((arg) => (arg === TAKEN ? new URL(receiver.url).port : arg));
      const { code, stdout, stderr } = await run(['webhooks', '--port', '0', ...given], await configured(yaml));
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, message);
      assert.ok(!stderr.includes(NEW_SECRET) && !stderr.includes(BAD_SECRET));
    });
  }
});

test('no log, history, metric or notification holds a webhook secret, or what stood under the name of one', async () => {
  const secrets = { token: TOKEN, nested: [{ password: TOKEN, authorization: `Bearer ${TOKEN}` }] };
  const body = { ...ALERT, ...secrets, note: `ours is ${SECRET}`, link: `https://u:${TOKEN}@host/?token=${TOKEN}` };
  assert.equal((await receiver.deliver(body, { id: `canary-${randomUUID()}` })).status, 202);
  await resultOf(eventId('panel', 'to-process'));
  const texts = { ...(await allHistories(world.client)), log: workerLog(), processes: ended.join('') };
  const others = { metrics: (await receiver.metrics()).join('\n'), told: told.map((it) => it.text).join('\n') };
  for (const secret of [TOKEN, SECRET, SECRET.slice(6), HMAC_SECRET, NEW_SECRET])
    assertNowhere(secret, { ...texts, ...others }, 'disk full');
});
