import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { createHmac, randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { before, test } from 'node:test';
import { eventId } from '../../../src/contract/ids.ts';
import { eventually } from '../../support/eventually.ts';
import { SECRET, secretFile, startReceiver, type Receiver } from '../../support/receiver.ts';
import { allHistories, assertNowhere } from '../../support/token.ts';
import { workerLog } from '../../support/runtime.ts';
import { TOKEN } from '../../support/world.ts';
import { eventStack, handled, notifiedOf, taken, type EventStack } from './shared.ts';

const NEW_SECRET = `whsec_${Buffer.alloc(32, 'new').toString('base64')}`;
const HMAC_SECRET = 'key of the generic source';
const ALERT = { type: 'alert.fired', data: { message: 'disk full' } };
const TYPE = { 'content-type': 'application/json' };

let world: EventStack;
let receiver: Receiver;
let rotating: { file: string };

before(async () => {
  world = await eventStack();
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

const hmacOf = (body: string, encoding: 'hex' | 'base64' = 'hex') =>
  createHmac('sha256', HMAC_SECRET).update(body).digest(encoding);

const post = (url: string, source: string, body: string, headers: Record<string, string>) =>
  fetch(`${url}/webhooks/${source}`, { method: 'POST', headers: { ...TYPE, ...headers }, body });

const countOf = async (prefix: string) =>
  (await world.client.workflow.count(`WorkflowId STARTS_WITH "${prefix}"`)).count;

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
  assert.deepEqual(await handled(eventId('named', 'n1')), { woken: [], shared: false, notified: ['ops', 'team'] });
});

test('an event with malformed Unicode or ids of maximum length is handled like any other', async () => {
  const long = JSON.stringify('😀'.repeat(100));
  for (const [id, ids] of Object.entries({ half: '"site":"\\udfff"', long: `"server":${long},"backup":${long}` })) {
    const deliver = () => receiver.deliver(`{"type":"alert \\ud800 fired",${ids}}`, { id });
    // Temporal may be slow to store it. Then a sender tries again.
    await eventually('the delivery', async () => (await deliver()).status !== 503);
    await eventually('its notification', () => notifiedOf([eventId('panel', id)]).length === 1);
  }
});

test('60 deliveries of 12 events in random order start 12 workflows and send 12 notifications', async () => {
  const ids = Array.from({ length: 60 }, (_, index) => `flood${index % 12}`);
  const rest = ids.map((id) => ({ id, at: Math.random() })).sort((a, b) => a.at - b.at);
  const statuses: number[] = [];
  const send = async () => {
    for (let it = rest.pop(); it; it = rest.pop()) statuses.push((await receiver.deliver(ALERT, { id: it.id })).status);
  };
  await Promise.all(Array.from({ length: 20 }, send));
  const count = (status: number) => statuses.filter((it) => it === status).length;
  assert.deepEqual([count(202), count(200)], [12, 48]);
  const flood = [...new Set(ids)].map((id) => eventId('panel', id)).toSorted();
  await Promise.all(flood.map(handled));
  assert.deepEqual(notifiedOf(flood), flood);
  await eventually('all of them', async () => (await countOf('event:panel:flood')) === 12);
  const metrics = (await receiver.metrics()).join('\n');
  assert.match(metrics, /^belay_webhooks_accepted_total\{source="panel",kind="alert.fired"\} 1\d$/m);
});

test('no log, history, metric or notification contains a webhook secret or the value of a key named like one', async () => {
  const secrets = { token: TOKEN, nested: [{ password: TOKEN, authorization: `Bearer ${TOKEN}` }] };
  const body = { ...ALERT, ...secrets, note: `ours is ${SECRET}`, link: `https://u:${TOKEN}@host/?token=${TOKEN}` };
  const id = `canary-${randomUUID()}`;
  assert.equal((await receiver.deliver(body, { id })).status, 202);
  const histories = await eventually('its history in the list', async () => {
    const found = await allHistories(world.client);
    return `history of ${eventId('panel', id)}` in found && found;
  });
  const texts = { ...histories, log: workerLog() };
  const others = { metrics: (await receiver.metrics()).join('\n'), sent: taken.map((it) => it.body).join('\n') };
  for (const secret of [TOKEN, SECRET, SECRET.slice(6), HMAC_SECRET, NEW_SECRET])
    assertNowhere(secret, { ...texts, ...others }, 'disk full');
});
