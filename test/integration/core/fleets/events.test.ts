/** Webhooks and what they cause: a hint, one event a delivery, a notification. Their rules are in test/sim/rules/events. */
import '../../../support/timing/use-patient.ts';
import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { before, describe, test } from 'node:test';
import { backupServerId, eventId, runEndId } from '../../../../src/contract/ids.ts';
import type { EventResult } from '../../../../src/features/events/shapes.ts';
import { eventually } from '../../../support/eventually.ts';
import { began } from '../../../support/journal.ts';
import { literalService } from '../../../support/literal.ts';
import { resultOf } from '../../../support/outcome.ts';
import { SECRET, secretFile, startReceiver, type Receiver } from '../../../support/receiver.ts';
import { allHistories, assertNowhere } from '../../../support/token.ts';
import { workerLog } from '../../../support/runtime.ts';
import { fresh, startTestStack, TOKEN, type TestStack } from '../../../support/world.ts';

/** Part of the address of the channel, because an address is a secret. */
const CANARY = 'canary-c41d7e02b6';
/** Reads so rare that only hints cause one during a test. */
const RARE = { intervalMs: 1_800_000, tries: 2 };

let world: TestStack;
let receiver: Receiver;
/** What the channel received, by the key of the request. */
const taken = new Map<unknown, string>();

before(async () => {
  const chat = await literalService((request, response) => {
    void text(request).then((body) => {
      taken.set(request.headers['idempotency-key'], body);
      response.end('ok');
    });
  });
  const notify = { targets: { ops: await secretFile(`${chat.url}/${CANARY}`) } };
  const endless = { ends: 'never' };
  world = await startTestStack({ configuration: { notify }, defaults: { backup: endless, deployment: endless } });
  receiver = await startReceiver(world);
});

const handled = (workflowId: string) => world.client.workflow.getHandle(workflowId).result() as Promise<EventResult>;

describe('events', { concurrency: 4 }, () => {
  test('an event reaches the operation that the record of its backup names', async () => {
    const serverId = fresh('s');
    const run = await world.belay.start({ serverId, siteIds: [], backup: RARE });
    const backupId = await eventually('the backup', () => began(world.sandbox, 'backup', serverId)[0]?.began?.id);
    await eventually('the wait', async () => (await run.status()).waiting?.kind === 'backup');
    world.sandbox.finish({ server: serverId }, 'completed');
    const response = await receiver.deliver({ type: 'backup.completed', data: { backup_id: backupId } });
    assert.equal(response.status, 202);
    const { event } = (await response.json()) as { event: string };
    const { woken } = await handled(event);
    assert.ok(woken.includes(backupServerId(serverId)));
    const result = await run.result();
    assert.deepEqual([result.outcome, result.backup?.polls], ['completed', 1]);
  });

  test('a duplicate delivery gets 200 and the same answer, even with another body', async () => {
    const deliver = async (note: string) => {
      const response = await receiver.deliver({ type: 'alert.fired', note }, { id: 'repeated' });
      return [response.status, await response.json()];
    };
    const event = eventId('panel', 'repeated');
    assert.deepEqual(await deliver('first'), [202, { event, repeated: false }]);
    for (const note of ['first', 'second']) assert.deepEqual(await deliver(note), [200, { event, repeated: true }]);
  });

  test('a delivery that is not signed with the secret of its source gets 401 and starts nothing', async () => {
    const secret = `whsec_${Buffer.alloc(32, 'another').toString('base64')}`;
    const { status } = await receiver.deliver({ type: 'alert.fired' }, { id: 'forged', secret });
    assert.equal(status, 401);
    await assert.rejects(world.client.workflow.getHandle(eventId('panel', 'forged')).describe());
  });

  test('a failed run notifies each channel once, with its outcome and its error', async () => {
    const serverId = fresh('s');
    world.sandbox.script({ server: serverId }, { durationMs: 0, ends: 'failed' });
    const result = await resultOf(
      await world.belay.start({ serverId, siteIds: [], backup: { intervalMs: 200, tries: 1_000 } }),
    );
    assert.equal(result.error?.type, 'BackupFailed');
    const id = runEndId(result.workflowId ?? '', result.runId ?? '');
    assert.deepEqual(await world.client.workflow.getHandle(id).result(), ['ops']);
    assert.match(taken.get(id) ?? '', new RegExp(`failed.*${serverId}`));
  });
});

test('no log, history or message of these tests contains a webhook secret, the token or the address of the channel', async () => {
  const texts = {
    ...(await allHistories(world.client, 'BackupFailed')),
    log: workerLog(),
    sent: [...taken.values()].join('\n'),
  };
  for (const secret of [TOKEN, SECRET, SECRET.slice(6), CANARY]) assertNowhere(secret, texts, 'BackupFailed');
});
