import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { before, describe, test } from 'node:test';
import type { Connection } from '@temporalio/client';
import type { Configuration, ReactionConfig } from '../../../src/config/file/file-schema.ts';
import type { RunInput, RunResult } from '../../../src/contract/run.ts';
import type { EventResult } from '../../../src/contract/event.ts';
import { eventId, runEndId } from '../../../src/contract/ids/workflow-ids.ts';
import { createNotifier } from '../../../src/activities/notifications/notifier.ts';
import { startWorker } from '../../../src/worker/start.ts';
import { atEnd } from '../../support/at-end.ts';
import { eventually } from '../../support/eventually.ts';
import { literalService, type LiteralService } from '../../support/literal.ts';
import { resultOf, SAID } from '../../support/outcome.ts';
import { run } from '../../support/processes.ts';
import { secretFile, startReceiver } from '../../support/receiver.ts';
import { replayLater } from '../../support/replay.ts';
import { tempFolder } from '../../support/temporal.ts';
import { allHistories, assertNowhere } from '../../support/token.ts';
import { belayOn, fresh, log, startTestStack, TOKEN, workerLog, type TestStack } from '../../support/world.ts';
import type { Notification } from '../../../src/contract/notification.ts';
import { connect, type Belay } from '../../../src/starter.ts';
import { lastingPort } from '../../support/lasting-port.ts';

/** Part of every address, because an address is a secret. */
const CANARY = 'canary-c41d7e02b6';
const UI = 'https://ui.example';
/** Text that Slack would show as a mention of all members and a link. */
const OUTSIDE = '<!channel> & <http://x|y>';
const ESCAPED = '&lt;!channel&gt; &amp; &lt;http://x|y&gt;';

type Message = { text: string } & Notification;
let chat: LiteralService;
let world: TestStack;
/** A client of a worker with `on: all`, a UI address, and one of two channels down. */
let all: Belay;

/** What the channels received, in order. */
const taken: { target: string; key: unknown; message: Message }[] = [];
/** What a channel does instead of accepting, once each, with a message that contains this name. */
const troubles: { target: string; name: string; does: 'hang' | 'reset' | number }[] = [];

before(async () => {
  chat = await literalService(answer);
  const notify = {
    targets: { ops: await secretAt('ops'), team: await secretAt('team') },
    heartbeats: { night: await secretAt('night'), noon: await secretAt('noon') },
  };
  const failed = { durationMs: 0, ends: 'failed' };
  world = await startTestStack({ configuration: { notify }, defaults: { backup: failed, deployment: failed } });
  const down = await secretFile(`http://127.0.0.1:${await lastingPort()}/${CANARY}`);
  all = await belayWith({ on: 'all', targets: { ops: notify.targets.ops, down } });
});

const secretAt = (target: string) => secretFile(`${chat.url}/${target}/${CANARY}`);

function answer(request: IncomingMessage, response: ServerResponse): void {
  void text(request).then((body) => {
    const target = request.url?.split('/')[1] ?? '';
    const index = troubles.findIndex((it) => it.target === target && body.includes(it.name));
    const does = index < 0 ? undefined : troubles.splice(index, 1)[0]?.does;
    if (does === 'hang') return;
    if (does === 'reset') return void request.socket.destroy();
    if (does !== undefined) return void response.writeHead(does, { location: '/elsewhere' }).end();
    const key = request.headers['idempotency-key'];
    if (body !== '') taken.push({ target, key, message: JSON.parse(body) as Message });
    response.end('ok');
  });
}

async function belayWith(notify: Configuration['notify']): Promise<Belay> {
  const { address, namespace, client, sandbox } = world;
  const taskQueue = fresh('queue');
  const temporal = { connectionOptions: { address }, namespace, uiUrl: UI };
  const service = { baseUrl: sandbox.url, token: () => Promise.resolve(TOKEN) };
  const worker = await startWorker({ temporal, taskQueue, service, configuration: { notify }, log }, 'wait');
  atEnd(() => worker.stop());
  await belayOn(world, taskQueue);
  return connect({ connection: client.connection as Connection, namespace, taskQueue, uiUrl: UI });
}

/** Runs a backup of a server. */
async function backUp(ends: string, more: Partial<RunInput> = {}, belay = world.belay): Promise<RunResult> {
  const serverId = more.serverId ?? fresh('server-');
  world.sandbox.script({ server: serverId }, { durationMs: 0, ends });
  const backup = { intervalMs: 100, tries: 5 };
  return resultOf(await belay.start({ serverId, siteIds: [], backup, ...more }));
}

const idOfEnd = ({ workflowId, runId }: RunResult) => runEndId(workflowId ?? '', runId ?? '');
const endOf = (result: RunResult) => world.client.workflow.getHandle(idOfEnd(result));
const takenOf = (key: string) => taken.filter((it) => it.key === key);
const targetsOf = (key: string) => takenOf(key).map(({ target }) => target);
const firstTaken = (result: RunResult) => eventually('the message', () => takenOf(idOfEnd(result))[0]?.message);
const beats = (name: string) => chat.requests.filter((it) => it === `POST /${name}/${CANARY}`).length;

/** Waits until every channel received one message. */
async function messageOf(result: RunResult): Promise<Message> {
  assert.deepEqual(await endOf(result).result(), ['ops', 'team']);
  assert.deepEqual(targetsOf(idOfEnd(result)).sort(), ['ops', 'team']);
  return takenOf(idOfEnd(result))[0]!.message;
}

const isAnnounced = async (result: RunResult) =>
  (await Promise.allSettled([endOf(result).describe()]))[0].status === 'fulfilled';

/** A failed run whose first messages meet these troubles at a channel. */
async function troubled(...what: (typeof troubles)[number]['does'][]): Promise<RunResult> {
  const serverId = fresh('troubled-');
  troubles.push(...what.map((does) => ({ target: 'team', name: `${serverId}:`, does })));
  return backUp('failed', { serverId });
}

const BOTH = ['ops', 'team'];
const KINDS = ['alert.fired', 'backup.failed', 'resource.deleted', 'backup.started', 'something'];

/** The channels notified of one event of each kind. */
async function notifiedOf(configuration: Configuration): Promise<unknown[]> {
  const receiver = await startReceiver(world, configuration);
  const channels = KINDS.map(async (type) => {
    const id = fresh('msg');
    assert.equal((await receiver.deliver({ type }, { id })).status, 202);
    const key = eventId('panel', id);
    const { notified } = (await world.client.workflow.getHandle(key).result()) as EventResult;
    assert.deepEqual(targetsOf(key).sort(), notified);
    return notified;
  });
  return Promise.all(channels);
}

describe('notifications', { concurrency: 8 }, () => {
  test('the notification of a run contains text, a link to the Temporal UI, and the result', async () => {
    const result = await backUp('failed', {}, all);
    const { text, ...rest } = await firstTaken(result);
    assert.deepEqual(rest, { kind: 'run', leftOut: 0, id: idOfEnd(result), result });
    assert.ok(result.links.ui?.startsWith(`${UI}/namespaces/${world.namespace}/workflows/backup%3Aserver-`), 'no link');
    const lines = [`failed: ${result.workflowId}`, result.error?.message];
    assert.equal(text, [...lines, `backup of ${result.backup?.serverId}: failed`, result.links.ui].join('\n'));
  });

  test('every channel is notified once of the end of a run, and of a completed run only with on: all', async () => {
    const serverId = fresh('server-');
    world.sandbox.script({ server: serverId }, { ends: 'never' });
    const cancelled = await world.belay.start({ serverId, siteIds: [] });
    await messageOf(await backUp('failed'));
    assert.equal(await isAnnounced(await backUp('completed')), false);
    assert.match((await firstTaken(await backUp('completed', {}, all))).text, /^completed: backup:/);
    await cancelled.cancel();
    assert.match((await messageOf(await resultOf(cancelled))).text, /^(cancelled|not_started): backup:/);
  });

  test('a run ends before a channel that hangs is notified, and only that channel is retried', async () => {
    const result = await troubled('hang');
    assert.equal((await endOf(result).describe()).status.name, 'RUNNING');
    assert.ok(!targetsOf(idOfEnd(result)).includes('team'));
    await messageOf(result);
  });

  test('a run ends although a channel is down, and the failure hides its address', async () => {
    const result = await backUp('failed', {}, all);
    const failure = await eventually('the failed attempt', async () => {
      const { pendingActivities } = (await endOf(result).describe()).raw;
      return pendingActivities?.find(({ lastFailure }) => lastFailure)?.lastFailure;
    });
    assert.equal(failure.message, 'cannot reach channel down: ECONNREFUSED');
    assert.ok(!JSON.stringify(failure).includes(CANARY));
    await eventually('the message to the other channel', () => targetsOf(idOfEnd(result)).length > 0);
    assert.deepEqual(targetsOf(idOfEnd(result)), ['ops']);
  });

  test('a channel that answers 500 or nothing is retried until it accepts the message', async () => {
    await messageOf(await troubled(500, 'reset'));
  });

  test('a redirect of a channel is not followed', async () => {
    await messageOf(await troubled(307));
    assert.ok(chat.requests.every((request) => !request.includes('elsewhere')));
  });

  for (const [why, input, type] of [
    ['no worker picked the run up in time', { startWithinMs: 1 }, 'NoWorker'],
    ['the run was meant for another service', { service: 'https://other.example' }, 'Refused'],
  ] as const) {
    test(`channels are notified if ${why}`, async () => {
      const result = await backUp('completed', input);
      assert.deepEqual([result.error?.type, await isAnnounced(result)], [type, true]);
    });
  }

  test('the notification of a run with many sites reports how many it omits', async () => {
    const siteIds = Array.from({ length: 70 }, () => fresh('a'));
    const { text } = await messageOf(await resultOf(await world.belay.start({ siteIds, heartbeat: 'unknown' })));
    const listed = text.match(/^deployment of /gm)?.length ?? 0;
    assert.match(text, new RegExp(`\nand ${70 - listed} more$`));
  });

  test('a heartbeat is called only after a completed run that names it', async () => {
    await messageOf(await backUp('failed', { heartbeat: 'noon' }));
    assert.equal(await isAnnounced(await backUp('completed')), false);
    const asked = await backUp('completed', { heartbeat: 'night' });
    assert.deepEqual(await endOf(asked).result(), []);
    assert.deepEqual([beats('night'), beats('noon'), targetsOf(idOfEnd(asked))], [1, 0, []]);
  });

  test('a heartbeat unknown to the worker ends the run before it makes anything', async () => {
    const serverId = fresh('server-');
    const result = await backUp('completed', { serverId, heartbeat: 'nihgt', siteIds: [`of-${serverId}`] });
    assert.deepEqual([result.outcome, result.error?.type], ['not_started', 'Usage']);
    assert.match(result.error?.message ?? '', /has no heartbeat "nihgt": add it to notify\.heartbeats/);
    assert.ok(!world.sandbox.journal.some(({ request }) => request.includes(serverId)));
  });

  test('a key is rejected with another heartbeat than in its first run', async () => {
    const input = { serverId: fresh('server-'), siteIds: [] };
    await world.belay.start(input, { key: 'k' });
    const again = world.belay.start({ ...input, heartbeat: 'noon' }, { key: 'k' });
    await assert.rejects(again, { type: 'KeyReused' });
  });

  test('channels are notified of events for alerts, failed backups and deletions', async () => {
    assert.deepEqual(await notifiedOf({}), [BOTH, BOTH, BOTH, [], []]);
  });

  test('channels are notified of the events that events.reactions selects', async () => {
    const reactions: ReactionConfig = { 'alert.fired': [], 'backup.failed': ['end-wait'], unknown: ['notify'] };
    assert.deepEqual(await notifiedOf({ events: { reactions } }), [[], [], BOTH, [], BOTH]);
  });

  test('the notification of an event names its resources and escapes outside text', async () => {
    const receiver = await startReceiver(world);
    const type = `alert.fired ${OUTSIDE}`;
    await receiver.deliver({ type, data: { server_id: OUTSIDE, site_id: 'a1' } }, { id: 'outside', source: 'open' });
    const { message } = await eventually('the message', () => takenOf('event:open:outside')[0]);
    const words = `alert.fired ("alert.fired ${ESCAPED}"): server ${ESCAPED}, site a1, from open, not verified`;
    assert.equal(message.text, words);
    const { kind, event, verified } = message as Extract<Message, { kind: 'event' }>;
    assert.deepEqual([kind, event.rawKind, event.serverId, verified], ['event', type, OUTSIDE, false]);
  });

  test('outside text is escaped in the text of a run notification and nowhere else', async () => {
    const serverId = `${OUTSIDE} ${fresh('s')}`;
    const { text, ...rest } = await messageOf(await backUp(`still ${OUTSIDE}`, { serverId }));
    const { backup } = (rest as Extract<Notification, { kind: 'run' }>).result;
    assert.deepEqual([backup?.serverId, backup?.lastStatus], [serverId, `still ${OUTSIDE}`]);
    const [, why, named] = text.split('\n');
    assert.ok(why?.includes(`still ${ESCAPED}`) && named?.startsWith(`backup of ${ESCAPED} s`), text);
  });

  for (const address of [`https://user:pw@chat.example/${CANARY}`, `https://a.example/${CANARY}\nhttps://b.example`]) {
    test(`an address that can never be called is rejected: ${address.replaceAll(/\n/g, ' and ')}`, async () => {
      const notifier = createNotifier({ targets: { ops: await secretFile(address) } }, (result) => result);
      await assert.rejects(notifier, (error: Error) => error.name === 'ConfigError' && !error.message.includes(CANARY));
    });
  }

  test('a missing or non-https address stops the worker with one message that hides it', async () => {
    const places = [
      ['targets', { file: '/none' }, '/none cannot be read (ENOENT)'],
      ['heartbeats', { env: 'OPS_URL' }, 'the variable OPS_URL is not set'],
      ['targets', await secretFile(`http://chat.example/${CANARY}`), 'the address must begin with https://'],
      ['heartbeats', await secretFile(CANARY), 'the address is not a URL'],
    ] as const;
    for (const [group, place, problem] of places) {
      const BELAY_CONFIG = `${await tempFolder()}/belay.yaml`;
      writeFileSync(BELAY_CONFIG, JSON.stringify({ notify: { [group]: { ops: place } } }));
      const env = { BELAY_CONFIG, BELAY_API_URL: 'https://host', BELAY_API_TOKEN: TOKEN };
      const { code, stdout, stderr } = await run(['worker'], env);
      assert.deepEqual([code, stdout, stderr.split('\n').length], [2, '', 2], stderr);
      assert.ok(stderr.startsWith(`belay: notify.${group}.ops: ${problem}`) && !stderr.includes(CANARY), stderr);
    }
  });
});

test('no address is in any history, worker log or error', async () => {
  assertNowhere(CANARY, await allHistories(world.client), 'channel team answered 307');
  assertNowhere(CANARY, { log: workerLog(), rawKind: SAID.join('\n') }, 'run-end:');
});

replayLater('notifications', () => world.client, 41);
