/** Temporal's database goes back in time: restored from a copy, or lost to a replica that lagged. */
import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { cp, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { startSandbox } from '../../../src/sandbox/server.ts';
import { startWorker } from '../../../src/worker/start.ts';
import { connect } from '../../../src/starter.ts';
import { atEnd } from '../../support/at-end.ts';
import { eventually } from '../../support/eventually.ts';
import { posts, reads } from '../../support/journal.ts';
import { lastingPort } from '../../support/lasting-port.ts';
import { resultOf } from '../../support/outcome.ts';
import { endOf, outcomesOf, rolloutOf } from '../../support/rollouts.ts';
import { isStopped } from '../../support/process-tree.ts';
import { startTemporal, tempFolder } from '../../support/temporal.ts';
import { testBundle } from '../../support/workflow-bundle.ts';
import { fixedPolicy } from '../../../src/config/live-policy.ts';
import { log } from '../../support/runtime.ts';
import { TOKEN } from '../../support/world.ts';

const PACE = { intervalMs: 300, tries: 300 };

test('what is restored to a moment before its requests sends none a second time in another epoch', async () => {
  // A folder of its own, because SQLite keeps part of the database in files beside it.
  const [folder, copy] = [join(await tempFolder(), 'database'), join(await tempFolder(), 'copy')];
  await mkdir(folder);
  const dbFile = join(folder, 'temporal.db');
  const port = await lastingPort();
  const sandbox = await startSandbox({ token: TOKEN, defaults: { deployment: { durationMs: 0 } } });
  atEnd(() => sandbox.close());
  const workflowBundle = await testBundle();

  const address = `127.0.0.1:${port}`;
  const work = (epoch: string) => {
    const temporal = { connectionOptions: { address }, namespace: 'default' };
    const service = { baseUrl: sandbox.url, epoch, token: () => Promise.resolve(TOKEN) };
    return startWorker({ temporal, taskQueue: 'belay', service, policy: fixedPolicy({}), log, workflowBundle }, 'poll');
  };

  const latestOf = (siteId: string) => reads(sandbox, `/v1/sites/${siteId}/deployments/latest`).length;
  // Another party's deployment keeps the run, and the rollout's first server, before its request.
  for (const site of ['a1', 'a3']) {
    sandbox.script({ site }, { ends: 'never' }, { durationMs: 0 });
    sandbox.act({ site });
  }
  const server = await startTemporal({ dbFile, port });
  const first = await work('1');
  const belay = await connect({ address, taskQueue: 'belay' });
  atEnd(() => belay.close());
  const run = await belay.start({ siteIds: ['a1'], deploy: PACE });
  const targets = [
    { serverId: 's1', siteIds: ['a3'] },
    { serverId: 's2', siteIds: ['a4'] },
  ];
  const options = { backup: PACE, deploy: PACE };
  const rollout = await belay.rollouts.start(rolloutOf(targets, { options, maxAtOnce: 1, maxFailures: 1 }));
  await eventually('the waits for its end', () => latestOf('a1') > 2 && latestOf('a3') > 2);
  await first.stop();
  // No worker admits it before the copy is made.
  const early = await belay.start({ siteIds: ['a2'], deploy: PACE });
  // What is in the files at one moment is what a crash would leave.
  process.kill(server.pid, 'SIGSTOP');
  await eventually('the stopped server', () => isStopped(server.pid));
  await cp(folder, copy, { recursive: true });
  process.kill(server.pid, 'SIGCONT');

  const after = await work('1');
  for (const site of ['a1', 'a3']) sandbox.finish({ site }, 'completed');
  for (const { workflowId } of [run, early]) {
    assert.equal((await resultOf(belay.get(workflowId))).outcome, 'completed');
  }
  assert.equal((await endOf(belay.rollouts.get(rollout.workflowId))).outcome, 'completed');
  const sent = sandbox.journal.filter(({ request }) => request.startsWith('POST /v1/')).length;
  await after.stop();
  await server.stop();
  await rm(folder, { recursive: true });
  await cp(copy, folder, { recursive: true });

  await startTemporal({ dbFile, port });
  const restored = await work('2');
  for (const { workflowId } of [run, early]) {
    const { outcome, error, deployments } = await resultOf(belay.get(workflowId));
    assert.deepEqual([outcome, error?.type], ['unknown', 'OutcomeUnknown'], workflowId);
    assert.match(error?.message ?? '', /epoch 1, and BELAY_EPOCH is now 2.*check at the service/);
    assert.deepEqual([deployments.length, deployments[0]?.outcome], [1, 'unknown']);
  }
  const ended = await endOf(belay.rollouts.get(rollout.workflowId));
  assert.deepEqual([ended.outcome, ended.error?.type], ['unknown', 'OutcomeUnknown']);
  assert.deepEqual(outcomesOf(ended), ['unknown', 'unknown']);
  const [, second] = ended.targets;
  assert.equal(second?.workflowId, null, 'a run was started');
  assert.match(second?.error?.message ?? '', /BELAY_EPOCH is now 2.*check at the service/);
  assert.equal(sandbox.journal.filter(({ request }) => request.startsWith('POST /v1/')).length, sent);
  for (const siteId of ['a1', 'a2', 'a3', 'a4']) assert.equal(posts(sandbox, `/v1/sites/${siteId}/deploy`).length, 1);
  await restored.stop();
});
