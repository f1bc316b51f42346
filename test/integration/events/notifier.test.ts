/** The requests to channels and heartbeats, without Temporal, and the addresses that they cannot be sent to. */
import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { before, describe, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { createNotifier, type Notifier } from '../../../src/features/notifications/worker.ts';
import type { Notification } from '../../../src/features/notifications/shapes.ts';
import { literalService, type LiteralService } from '../../support/literal.ts';
import { runInProcess } from '../../support/in-process.ts';
import { SECRET, secretFile } from '../../support/receiver.ts';
import { tempFolder } from '../../support/temporal.ts';
import { TOKEN } from '../../support/world.ts';
import { addressAt, CANARY } from './shared.ts';

const NOTIFICATION: Notification = {
  ...{ kind: 'event', id: 'event:panel:1', source: 'panel', verified: true, receivedAt: '' },
  event: { kind: 'alert.fired', rawKind: null, serverId: null, siteId: null, backupId: null, at: null },
};

const SLOW_CLOCK = 'Sat, 21 Nov 2020 00:00:00 GMT';
const AFTER_9_S = 'Sat, 21 Nov 2020 00:00:09 GMT';

const received: { url: string | undefined; headers: IncomingHttpHeaders; body: string }[] = [];
let chat: LiteralService;
let notifier: Notifier;
before(async () => {
  chat = await literalService((request, response) => {
    const target = request.url?.split('/')[1];
    if (target === 'broken') return void request.socket.destroy();
    const { url, headers } = request;
    void text(request).then((body) => received.push({ url, headers, body }));
    if (target === 'limited') return void response.writeHead(429, { 'retry-after': '7' }).end();
    if (target === 'slow') return void response.writeHead(429, { date: SLOW_CLOCK, 'retry-after': AFTER_9_S }).end();
    if (target === 'discord') return void response.writeHead(429).end(JSON.stringify({ retry_after: 1.2337 }));
    if (target === 'teams') return void response.writeHead(202).end();
    response.writeHead(target === 'moved' ? 307 : target === 'failing' ? 500 : 200, { location: '/elsewhere' }).end();
  });
  const at = (target: string) => addressAt(chat, target);
  const targets = { broken: await at('broken'), moved: await at('moved') };
  const heartbeats = { night: await at('night') };
  notifier = await createNotifier({ targets: { ...targets, failing: await at('failing') }, heartbeats });
});

describe('a notifier', { concurrency: 8 }, () => {
  for (const [channel, what, message] of [
    ['broken', 'breaks the connection', 'cannot reach channel broken: UND_ERR_SOCKET'],
    ['failing', 'answers 500', 'channel failing answered 500'],
    ['moved', 'answers with a redirect', 'channel moved answered 307'],
  ] as const) {
    test(`a message to a channel that ${what} counts as not delivered, without its address`, async () => {
      await assert.rejects(notifier.sendNotification({ channel, notification: NOTIFICATION }), { message });
    });
  }

  test('a redirect of a channel is not followed', async () => {
    await assert.rejects(notifier.sendNotification({ channel: 'moved', notification: NOTIFICATION }));
    assert.ok(chat.requests.every((request) => !request.includes('elsewhere')));
  });

  test('a heartbeat is called once with POST, and one that is not configured is reported as unknown', async () => {
    assert.deepEqual([await notifier.callHeartbeat('night'), await notifier.callHeartbeat('noon')], [true, false]);
    assert.deepEqual(
      chat.requests.filter((request) => request.includes('night')),
      [`POST /night/${CANARY}`],
    );
  });

  test('a webhook is signed, and a chat that answers 202 has taken the message', async () => {
    const signs = { kind: 'webhook' as const, ...(await addressAt(chat, 'own')), secret: await secretFile(SECRET) };
    const teams = { kind: 'teams' as const, ...(await addressAt(chat, 'teams')) };
    const mixed = await createNotifier({ targets: { signs, teams } });
    for (const channel of ['signs', 'teams'])
      assert.ok(await mixed.sendNotification({ channel, notification: NOTIFICATION }));
    const [own] = received.filter(({ url }) => url?.startsWith('/own/'));
    const { kind } = new Webhook(SECRET).verify(own!.body, own!.headers as Record<string, string>) as Notification;
    assert.equal(kind, 'event');
  });

  test('a chat that asks to wait is asked again no sooner, wherever it says so', async () => {
    const header = await addressAt(chat, 'limited');
    const clock = await addressAt(chat, 'slow');
    const body = { kind: 'discord' as const, ...(await addressAt(chat, 'discord')) };
    const limited = await createNotifier({ targets: { header, clock, body } });
    for (const [channel, retryAfterMs] of [
      ['header', 7_000],
      ['clock', 9_000],
      ['body', 1_234],
    ] as const) {
      await assert.rejects(limited.sendNotification({ channel, notification: NOTIFICATION }), {
        status: 429,
        retryAfterMs,
      });
    }
  });

  test('a webhook with a secret that cannot sign is rejected, without the secret', async () => {
    const own = { kind: 'webhook' as const, ...(await addressAt(chat, 'own')), secret: await secretFile(CANARY) };
    const message =
      'notify.targets.own.secret: not a Standard Webhooks secret: use whsec_ followed by the base64 of 24 to 64 bytes';
    await assert.rejects(createNotifier({ targets: { own } }), { name: 'ConfigError', message });
  });

  for (const address of [`https://user:pw@chat.example/${CANARY}`, `https://a.example/${CANARY}\nhttps://b.example`]) {
    test(`an address that can never be called is rejected: ${address.replaceAll(/\n/g, ' and ')}`, async () => {
      const rejected = createNotifier({ targets: { ops: await secretFile(address) } });
      await assert.rejects(rejected, (error: Error) => error.name === 'ConfigError' && !error.message.includes(CANARY));
    });
  }

  test('a missing or non-https address is rejected with one message that hides it', async () => {
    const places = [
      ['targets', { file: '/none' }, '/none cannot be read (ENOENT): create it, or correct the path'],
      ['heartbeats', { env: 'OPS_URL' }, 'the variable OPS_URL is not set: set it'],
      ['targets', await secretFile(`http://chat.example/${CANARY}`), 'the address must begin with https://'],
      ['heartbeats', await secretFile(CANARY), 'the address is not a URL'],
    ] as const;
    for (const [group, place, problem] of places) {
      await assert.rejects(createNotifier({ [group]: { ops: place } }), ({ name, message }: Error) => {
        const isOurs = name === 'ConfigError' && message.startsWith(`notify.${group}.ops: ${problem}`);
        return isOurs && !message.includes(CANARY) && !message.includes('\n');
      });
    }
  });

  test('a missing or non-https address stops the worker with one message that hides it', async () => {
    const BELAY_CONFIG = `${await tempFolder()}/belay.yaml`;
    const ops = await secretFile(`http://chat.example/${CANARY}`);
    writeFileSync(BELAY_CONFIG, JSON.stringify({ notify: { targets: { ops } } }));
    const env = { BELAY_CONFIG, BELAY_API_URL: 'https://host', BELAY_API_TOKEN: TOKEN };
    const { code, stdout, stderr } = await runInProcess(['worker'], env);
    assert.deepEqual([code, stdout, stderr.split('\n').length], [2, '', 2], stderr);
    assert.match(stderr, /^belay: .*belay\.yaml:1: notify\.targets\.ops: the address must begin with https:\/\//);
    assert.ok(!stderr.includes(CANARY), stderr);
  });
});
