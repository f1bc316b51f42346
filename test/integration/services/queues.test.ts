/** Which service the workers of a task queue serve. */
import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { before, describe, test } from 'node:test';
import { inputOf } from '../../../src/client/decode-payloads.ts';
import type { RunInput } from '../../../src/contract/run.ts';
import { identityText } from '../../../src/contract/worker-identity.ts';
import { connect } from '../../../src/starter.ts';
import { atEnd } from '../../support/at-end.ts';
import { eventually } from '../../support/eventually.ts';
import { runInProcess } from '../../support/in-process.ts';
import { posts } from '../../support/journal.ts';
import { resultOf } from '../../support/outcome.ts';
import { endOf, rolloutOf, servers } from '../../support/rollouts.ts';
import { definitionsOf } from '../../support/schedule-files.ts';
import { nightly, ours } from '../../support/schedules.ts';
import { tempFolder } from '../../support/temporal.ts';
import { sharedStack } from '../../support/shared-stack.ts';
import { addWorker, belayOn, fresh, temporalEnv, TOKEN, type TestStack } from '../../support/world.ts';

const PACE = { intervalMs: 200, tries: 1_000 };
const ELSEWHERE = 'https://elsewhere.example';

let world: TestStack;
before(async () => {
  world = await sharedStack();
});

/** Polls as a worker for another service would. It completes nothing. */
async function pollFor(taskQueue: string, service: string): Promise<void> {
  const { namespace, client } = world;
  const identity = identityText({ version: '0', where: 'h:1', service, since: new Date().toISOString() });
  const queue = { namespace, taskQueue: { name: taskQueue } };
  const poll = () => client.workflowService.pollWorkflowTaskQueue({ ...queue, identity });
  const over = new AbortController();
  const polling = keepAsking(() => client.withAbortSignal(over.signal, poll), over.signal);
  atEnd(() => (over.abort(), polling));
  const listed = async () => (await client.workflowService.describeTaskQueue({ ...queue, taskQueueType: 1 })).pollers;
  await eventually('the poller', async () => (await listed()).some((poller) => poller.identity === identity));
}

async function keepAsking(poll: () => Promise<unknown>, over: AbortSignal): Promise<void> {
  // A poll must have a deadline, and waits for a task until then.
  const ask = () => world.client.withDeadline(Date.now() + 60_000, poll);
  while (!over.aborted) await ask().catch(() => sleep(100));
}

describe('the service of a task queue', { concurrency: 4 }, () => {
  test('a worker refuses to join a queue of another service, and names that service and the remedies', async () => {
    const taskQueue = fresh('q');
    await pollFor(taskQueue, ELSEWHERE);
    await assert.rejects(addWorker(world, taskQueue, world.sandbox.url), (error: Error & { type: string }) => {
      assert.equal(error.type, 'Usage');
      assert.match(error.message, /https:\/\/elsewhere\.example.*BELAY_TASK_QUEUE.*formerly/s);
      return true;
    });
  });

  test('of two workers for two services that start at once, at most one goes on', async () => {
    const taskQueue = fresh('q');
    const urls = [world.sandbox.url, `${world.sandbox.url}/other`];
    const both = await Promise.allSettled(urls.map((url) => addWorker(world, taskQueue, url)));
    const refused = both.flatMap((it) => (it.status === 'rejected' ? [it.reason as Error & { type: string }] : []));
    assert.ok(refused.length > 0, 'both poll');
    assert.ok(refused.every(({ type }) => type === 'Usage'));
    assert.match(refused[0]?.message ?? '', /a worker for .* polls the task queue/);
  });

  test('a worker joins a queue of the service that its own was formerly', async () => {
    const taskQueue = fresh('q');
    await pollFor(taskQueue, ELSEWHERE);
    await addWorker(world, taskQueue, world.sandbox.url, { formerly: [ELSEWHERE] });
  });

  test('a run recorded for a service that has moved goes on at its new address', async () => {
    const taskQueue = fresh('q');
    await addWorker(world, taskQueue, world.sandbox.url, { formerly: [ELSEWHERE] });
    const siteId = fresh('a');
    const belay = await belayOn(world, taskQueue);
    const run = await belay.start({ siteIds: [siteId], deploy: PACE, service: ELSEWHERE });
    assert.equal((await resultOf(run)).outcome, 'completed');
    assert.equal(posts(world.sandbox, `/v1/sites/${siteId}/deploy`).length, 1);
  });

  test('a starter records the one service that the workers serve', async () => {
    const run = await world.belay.start({ siteIds: [fresh('a')], deploy: PACE });
    const { memo } = await world.client.workflow.getHandle(run.workflowId).describe();
    assert.equal((memo as { input: { service?: string } }).input.service, world.sandbox.url);
    await resultOf(run);
  });

  test("rollouts, their runs and schedules carry the service, and runs the rollout's start as that of its deadline", async () => {
    const service = world.sandbox.url;
    const { file } = nightly(world);
    const [change] = ours(await world.belay.schedules.plan(definitionsOf(file()), []));
    assert.equal(change?.definition?.input.start.input.service, service);
    const deploysUntil = { time: '06:00', timeZone: 'Europe/Berlin' };
    const rollout = await world.belay.rollouts.start(rolloutOf(servers(1), { deploysUntil }));
    const { startedAt, targets } = await endOf(rollout);
    const inputs = await Promise.all(
      [rollout.workflowId, targets[0]?.workflowId ?? ''].map((id) => inputOf<RunInput>(world.client, id)),
    );
    for (const input of inputs) assert.deepEqual([input?.service, input?.epoch], [service, '1']);
    assert.deepEqual(inputs[1]?.deploysUntil, { ...deploysUntil, after: startedAt });
  });

  test('a run or rollout that was started in another epoch sends nothing', async () => {
    const taskQueue = fresh('q');
    await addWorker(world, taskQueue, world.sandbox.url, {}, { epoch: 'after the fire' });
    const belay = await belayOn(world, taskQueue);
    const [target] = servers(1);
    const run = await belay.start({ ...target, backup: PACE, deploy: PACE, epoch: '1' });
    const rollout = await belay.rollouts.start(rolloutOf([target], { epoch: '1' }));
    for (const { outcome, error } of [await resultOf(run), await endOf(rollout)]) {
      assert.deepEqual([outcome, error?.type], ['unknown', 'OutcomeUnknown']);
      assert.match(error?.message ?? '', /epoch 1, and BELAY_EPOCH is now after the fire.*check at the service/);
    }
    assert.equal(posts(world.sandbox, `/v1/servers/${target.serverId}/backups`).length, 0);
    // A retry is a new start, in the epoch of the workers.
    assert.equal((await endOf(await belay.rollouts.retry(rollout.workflowId))).outcome, 'completed');
  });

  test('a starter that names no service is refused if the workers serve several', async () => {
    const taskQueue = fresh('q');
    await pollFor(taskQueue, ELSEWHERE);
    await pollFor(taskQueue, 'https://other.example');
    const belay = await belayOn(world, taskQueue);
    const several = { type: 'Usage', message: /https:\/\/elsewhere\.example and https:\/\/other\.example.*--service/ };
    await assert.rejects(belay.start({ siteIds: [fresh('a')] }), several);
    const { address, namespace } = world;
    const named = await connect({ address, namespace, taskQueue, service: `${ELSEWHERE}/` });
    atEnd(() => named.close());
    const run = await named.start({ siteIds: [fresh('a')] });
    const { memo } = await world.client.workflow.getHandle(run.workflowId).describe();
    assert.equal((memo as { input: { service?: string } }).input.service, ELSEWHERE);
    await world.client.workflow.getHandle(run.workflowId).terminate();
  });
});

test('a command that starts something reports Temporal, namespace and service if there are several', async () => {
  const home = await tempFolder();
  const env = { ...temporalEnv(world), BELAY_HOME: home };
  const commands = [
    ['deploy', '--site', fresh('a'), '--detach'],
    ['schedule', 'trigger', 'belay:nobody:nothing'],
  ];
  for (const command of commands) assert.doesNotMatch((await runInProcess(command, env)).stderr, /Using Temporal/);
  await writeFile(join(home, 'dev.json'), JSON.stringify({ pid: process.pid, temporal: '127.0.0.1:1', ui: null }));
  const using = `Using Temporal ${world.address} (from TEMPORAL_ADDRESS), namespace ${world.namespace}, service `;
  for (const command of commands) {
    const { stderr } = await runInProcess(command, env);
    assert.ok(stderr.includes(`${using}${world.sandbox.url}\n`), stderr);
    const named = await runInProcess(command, { ...env, BELAY_SERVICE: ELSEWHERE });
    assert.ok(named.stderr.includes(`${using}${ELSEWHERE}\n`), named.stderr);
  }
});

test('belay worker exits 2 if a worker of another service polls its queue', async () => {
  const taskQueue = fresh('q');
  await pollFor(taskQueue, ELSEWHERE);
  const service = { BELAY_API_URL: world.sandbox.url, BELAY_API_TOKEN: TOKEN };
  const { code, stderr } = await runInProcess(['worker'], {
    ...temporalEnv(world),
    ...service,
    BELAY_TASK_QUEUE: taskQueue,
  });
  assert.equal(code, 2, stderr);
  assert.match(stderr, /a worker for https:\/\/elsewhere\.example .*BELAY_TASK_QUEUE/);
});
