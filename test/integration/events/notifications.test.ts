import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Connection } from '@temporalio/client';
import type { Configuration } from '../../../src/config/file/file-schema.ts';
import type { RunInput, RunResult } from '../../../src/contract/run.ts';
import { runEndId } from '../../../src/contract/ids.ts';
import { createNotifier } from '../../../src/features/notifications/worker.ts';
import { startWorker } from '../../../src/worker/start.ts';
import { connect, type Belay } from '../../../src/starter.ts';
import { atEnd } from '../../support/at-end.ts';
import { eventually } from '../../support/eventually.ts';
import { literalService } from '../../support/literal.ts';
import { lastingPort } from '../../support/lasting-port.ts';
import { resultOf, SAID } from '../../support/outcome.ts';
import { secretFile } from '../../support/receiver.ts';
import { resetToEnd } from '../../support/reset.ts';
import { allHistories, assertNowhere } from '../../support/token.ts';
import { testBundle } from '../../support/workflow-bundle.ts';
import { log, workerLog } from '../../support/runtime.ts';
import { belayOn, fresh, TOKEN } from '../../support/world.ts';
import { fixedPolicy } from '../../../src/config/live-policy.ts';
import { addressAt, CANARY, eventStack, takenOf, targetsOf, troubles, type EventStack } from './shared.ts';

const UI = 'https://ui.example';

let world: EventStack;
/** A client of a worker with `on: all`, a UI address, and one of two channels down. */
let all: Belay;

before(async () => {
  world = await eventStack();
  const down = await secretFile(`http://127.0.0.1:${await lastingPort()}/${CANARY}`);
  all = await belayWith({ on: 'all', targets: { ops: await addressAt(world.chat, 'ops'), down } });
});

async function belayWith(notify: Configuration['notify']): Promise<Belay> {
  const { address, namespace, client, sandbox } = world;
  const taskQueue = fresh('queue');
  const temporal = { connectionOptions: { address }, namespace, uiUrl: UI };
  const service = { baseUrl: sandbox.url, token: () => Promise.resolve(TOKEN) };
  const configuration = { notify };
  const workflowBundle = await testBundle();
  const worker = await startWorker(
    { temporal, taskQueue, service, configuration, policy: fixedPolicy(configuration), log, workflowBundle },
    'poll',
  );
  atEnd(() => worker.stop());
  await belayOn(world, taskQueue);
  return connect({ connection: client.connection as Connection, namespace, taskQueue, uiUrl: UI });
}

/** Runs a backup of a server. */
async function backUp(ends: string, more: Partial<RunInput> = {}, belay = world.belay): Promise<RunResult> {
  const serverId = more.serverId ?? fresh('server-');
  world.sandbox.script({ server: serverId }, { durationMs: 0, ends });
  const backup = { intervalMs: 100, tries: 1_000 };
  return resultOf(await belay.start({ serverId, siteIds: [], backup, ...more }));
}

const idOfEnd = ({ workflowId, runId }: RunResult) => runEndId(workflowId ?? '', runId ?? '');
const endOf = (result: RunResult) => world.client.workflow.getHandle(idOfEnd(result));
/** A failed run whose first messages meet these troubles at a channel. */
async function troubled(...what: (typeof troubles)[number]['does'][]): Promise<RunResult> {
  const serverId = fresh('troubled-');
  troubles.push(...troublesOf(serverId, ...what));
  return backUp('failed', { serverId });
}

const troublesOf = (serverId: string, ...what: (typeof troubles)[number]['does'][]) =>
  what.map((does) => ({ target: 'team', name: `${serverId}:`, does }));

async function assertDelivered(result: RunResult): Promise<void> {
  assert.deepEqual(await endOf(result).result(), ['ops', 'team']);
  assert.deepEqual(targetsOf(idOfEnd(result)).sort(), ['ops', 'team']);
}

const firstTaken = (result: RunResult) => eventually('the message', () => takenOf(idOfEnd(result))[0]?.message);

describe('notifications', { concurrency: 8 }, () => {
  test('the notification of a run contains text, a link to the Temporal UI, and the result', async () => {
    const result = await backUp('failed', {}, all);
    const { text, ...rest } = await firstTaken(result);
    assert.deepEqual(rest, { kind: 'run', leftOut: 0, id: idOfEnd(result), result });
    assert.ok(result.links.ui?.startsWith(`${UI}/namespaces/${world.namespace}/workflows/backup%3Aserver-`), 'no link');
    const lines = [`failed: ${result.workflowId}`, result.error?.message];
    assert.equal(text, [...lines, `backup of ${result.backup?.serverId}: failed`, result.links.ui].join('\n'));
  });

  test('a run ends although a channel is down, and the failure hides its address', async () => {
    const result = await backUp('completed', {}, all);
    assert.equal(result.outcome, 'completed');
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
    const serverId = fresh('troubled-');
    const [first, second, lasting] = troublesOf(serverId, 500, 'reset', 500);
    troubles.push(first!, second!, { ...lasting!, lasts: true });
    const result = await backUp('failed', { serverId });
    assert.equal((await endOf(result).describe()).status.name, 'RUNNING');
    troubles.splice(
      troubles.findIndex(({ name, lasts }) => lasts === true && name === lasting!.name),
      1,
    );
    await assertDelivered(result);
  });

  test('a redirect of a channel is not followed', async () => {
    await assertDelivered(await troubled(307));
    assert.ok(world.chat.requests.every((request) => !request.includes('elsewhere')));
  });

  test('a message to a channel that does not answer counts as not delivered, without its address', async () => {
    const silent = await literalService(() => undefined);
    const notifier = await createNotifier({ targets: { silent: await addressAt(silent, 'silent') } });
    const event = {
      kind: 'alert.fired',
      rawKind: null,
      serverId: null,
      siteId: null,
      backupId: null,
      at: null,
    } as const;
    const about = { id: 'event:panel:1', source: 'panel', verified: true, receivedAt: '' };
    const sent = notifier.sendNotification({ channel: 'silent', notification: { kind: 'event', ...about, event } });
    await assert.rejects(sent, { message: 'cannot reach channel silent: TimeoutError' });
  });

  test('an ended run whose last step is reset ends again without a second notification', async () => {
    const { workflowId, runId } = await backUp('failed');
    const end = world.client.workflow.getHandle(runEndId(workflowId ?? '', runId ?? ''));
    assert.deepEqual(await end.result(), ['ops', 'team']);
    const again = await resetToEnd(world.client, workflowId ?? '');
    assert.equal((await resultOf(world.belay.get(workflowId ?? '', again))).error?.type, 'BackupFailed');
    const query = `WorkflowId = '${runEndId(workflowId ?? '', runId ?? '')}'`;
    const seen = await eventually('it in the list', async () => (await world.client.workflow.count(query)).count);
    assert.equal(seen, 1);
  });

  test('a key is rejected with another heartbeat than in its first run', async () => {
    const input = { serverId: fresh('server-'), siteIds: [] };
    const first = await world.belay.start(input, { key: 'k' });
    const again = world.belay.start({ ...input, heartbeat: 'noon' }, { key: 'k' });
    await assert.rejects(again, { type: 'KeyReused' });
    await first.cancel();
  });
});

test('no address is in any history, worker log or error', async () => {
  const known = 'channel team answered 307';
  // Lists of Temporal lag behind.
  const histories = await eventually('that in the list', async () => {
    const found = await allHistories(world.client);
    return Object.values(found).some((it) => it.includes(known)) && found;
  });
  assertNowhere(CANARY, histories, known);
  assertNowhere(CANARY, { log: workerLog(), rawKind: SAID.join('\n') }, 'run-end:');
});
