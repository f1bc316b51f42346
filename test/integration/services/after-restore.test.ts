/** What `belay doctor --after-restore` lists for a person to decide. */
import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { startWorker } from '../../../src/worker/start.ts';
import { backupServerId, deploySiteId } from '../../../src/contract/ids.ts';
import { eventually } from '../../support/eventually.ts';
import { began } from '../../support/journal.ts';
import { runInProcess } from '../../support/in-process.ts';
import { resultOf } from '../../support/outcome.ts';
import { apply, nightly } from '../../support/schedules.ts';
import { testBundle } from '../../support/workflow-bundle.ts';
import { atEnd } from '../../support/at-end.ts';
import { fixedPolicy } from '../../../src/config/live-policy.ts';
import { log } from '../../support/runtime.ts';
import { fresh, startTestStack, TASK_QUEUE, temporalEnv, TOKEN, type TestStack } from '../../support/world.ts';

const PACE = { intervalMs: 300, tries: 1_000 };

let world: TestStack;
before(async () => {
  world = await startTestStack();
});

interface Listed {
  name: string;
  state: string;
  message: string;
  remedy?: string;
}

async function afterRestore(epoch: string) {
  const env = { ...temporalEnv(world), BELAY_EPOCH: epoch };
  const { code, stdout, stderr } = await runInProcess(['doctor', '--after-restore', '--json'], env);
  assert.equal(code, 0, stderr);
  const { checks } = JSON.parse(stdout) as { checks: Listed[] };
  return (name: string) => checks.filter((check) => check.name === name);
}

test('after a restore, doctor lists what stands before or after a request, what may begin twice, and what ended unknown', async () => {
  const [serverId, siteId, later] = [fresh('s'), fresh('a'), fresh('a')];
  const deploySite = deploySiteId(siteId);
  world.sandbox.script({ server: serverId }, { ends: 'never' });
  world.sandbox.script({ site: siteId }, { ends: 'never' }, { durationMs: 0, ends: 'completed' });
  world.sandbox.act({ site: siteId });
  const answered = await world.belay.start({ serverId, siteIds: [], backup: PACE });
  const waiting = await world.belay.start({ siteIds: [siteId], deploy: PACE });
  await eventually('the backup', () => began(world.sandbox, 'backup', serverId).length > 0);
  await eventually('its wait', async () => (await answered.status()).result.backup?.backupId);
  await eventually('the baseline', async () => (await waiting.status()).waiting?.kind === 'baseline');
  const { id, file } = nightly(world);
  await apply(world, file());
  await world.worker.stop();
  const notBegun = await world.client.workflow.start('deployOnly', {
    ...{ workflowId: 'deploy:later:k', taskQueue: TASK_QUEUE, args: [{ siteIds: [later], deploy: PACE }] },
  });
  const all = [backupServerId(serverId), deploySite, waiting.workflowId, notBegun.workflowId, id];
  const restored = await eventually('all of them in the lists', async () => {
    const found = await afterRestore('2');
    return all.every((name) => found(name).length > 0) && found;
  });
  const sameEpoch = await afterRestore('1');
  assert.match(sameEpoch('epoch')[0]?.message ?? '', /^BELAY_EPOCH is 1; 4 of 5 /);
  assert.match(sameEpoch('epoch')[0]?.remedy ?? '', /set BELAY_EPOCH to another word/);
  assert.deepEqual(sameEpoch(deploySite), []);

  const message = (name: string) => restored(name)[0]?.message ?? '';
  assert.deepEqual(restored('epoch')[0]?.state, 'ok');
  assert.match(
    message(backupServerId(serverId)),
    new RegExp(`epoch 1: holds this lock for ${answered.workflowId}; .* was answered`),
  );
  assert.match(
    message(deploySite),
    new RegExp(`epoch 1: holds this lock for ${waiting.workflowId}; it has sent no request`),
  );
  assert.match(message(waiting.workflowId), /epoch 1: it sends nothing more/);
  assert.match(message(notBegun.workflowId), /has not begun/);
  assert.match(message(id), /last fired never/);

  const service = { baseUrl: world.sandbox.url, epoch: '2', token: () => Promise.resolve(TOKEN) };
  const temporal = { connectionOptions: { address: world.address }, namespace: world.namespace };
  const workflowBundle = await testBundle();
  const worker = await startWorker(
    { temporal, taskQueue: TASK_QUEUE, service, policy: fixedPolicy({}), log, workflowBundle },
    'poll',
  );
  atEnd(() => worker.stop());
  world.sandbox.finish({ site: siteId }, 'completed');
  assert.equal((await resultOf(waiting)).outcome, 'unknown');
  await notBegun.result();
  const ended = await eventually('the list', async () => {
    const [found] = (await afterRestore('2'))(waiting.workflowId);
    return found?.message.startsWith('ended unknown') === true && found;
  });
  assert.match(ended.message, /epoch 1, and BELAY_EPOCH is now 2/);
  assert.match(ended.remedy ?? '', /check at the service/);
  await eventually('its end in the list', async () => (await afterRestore('2'))(notBegun.workflowId).length === 0);
  world.sandbox.finish({ server: serverId }, 'completed');
  assert.equal((await resultOf(answered)).outcome, 'completed');
});
