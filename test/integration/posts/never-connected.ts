import assert from 'node:assert/strict';
import { connect, createServer } from 'node:net';
import { before, describe, test } from 'node:test';
import { QUERIES, type BackupResult, type DeploymentResult, type OperationProgress } from '../../../src/contract/run.ts';
import { backupServerId, deploySiteId } from '../../../src/contract/ids/workflow-ids.ts';
import type { Belay } from '../../../src/starter.ts';
import { atEnd } from '../../support/at-end.ts';
import { lastingPort } from '../../support/lasting-port.ts';
import { eventually } from '../../support/eventually.ts';
import { began, posts, reads } from '../../support/journal.ts';
import { resultOf } from '../../support/outcome.ts';
import { COMPLETED, FAILED, siteAfter } from '../../support/sites.ts';
import { addWorker, belayOn, fresh, startWorld, type World } from '../../support/world.ts';

let world: World;
before(async () => {
  world = await startWorld({ defaults: { backup: COMPLETED } });
});

/** A way to the sandbox that can be closed: connections that are there go on, new ones are refused. */
async function relay(): Promise<{ url: string; close: () => void; open: () => Promise<void> }> {
  const { port: target, hostname } = new URL(world.sandbox.url);
  const server = createServer((socket) => {
    const onward = connect(Number(target), hostname);
    socket.on('error', () => onward.destroy()).on('close', () => onward.destroy());
    onward.on('error', () => socket.destroy()).on('close', () => socket.destroy());
    socket.pipe(onward).pipe(socket);
  });
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const port = await lastingPort();
  await listen(port);
  atEnd(async () => void server.close());
  return { url: `http://127.0.0.1:${port}`, close: () => void server.close(), open: () => listen(port) };
}

/** A worker behind a relay of its own. */
async function behindRelay() {
  const [queue, way] = [fresh('queue'), await relay()];
  await addWorker(world, queue, way.url);
  return { way, belay: await belayOn(world, queue) };
}

const NOT_SENT = { outcome: 'not_started', type: 'Refused', attempts: 5, ambiguous: false, reconciledBy: null };

function endOf({ error, part }: { error: { type: string } | null; part: BackupResult | DeploymentResult }) {
  return { outcome: part.outcome, type: error?.type ?? null, ...part.trigger };
}

const attempts = (workflowId: string, count: number) =>
  eventually(`request ${count}`, async () => {
    const handle = world.client.workflow.getHandle(workflowId);
    const progress = await handle.query<OperationProgress>(QUERIES.progress).catch(() => null);
    return (progress?.result.trigger.attempts ?? 0) >= count;
  });

/** Starts a deployment whose reads come through and whose POSTs find nobody. */
async function deploy(belay: Belay, way: { close: () => void }, deploy: { intervalMs: number; tries: number }) {
  // Somebody else's deployment holds it up before its POST, until the way is closed.
  const siteId = siteAfter(world.sandbox, { ends: 'never' }, FAILED, COMPLETED);
  const path = `/v1/sites/${siteId}/deployments/latest`;
  const run = await belay.start({ siteIds: [siteId], deploy });
  await eventually('the baseline is waited for', () => reads(world.sandbox, path).length > 1);
  way.close();
  world.sandbox.act({ site: siteId });
  return { run, siteId };
}

describe('a POST that never finds a connection', { concurrency: 4 }, () => {
  test('of a deployment is tried five times, and then not started', async () => {
    const { belay, way } = await behindRelay();
    const { run, siteId } = await deploy(belay, way, { intervalMs: 300, tries: 60 });
    const { error, deployments } = await resultOf(run);
    assert.deepEqual(endOf({ error, part: deployments[0]! }), NOT_SENT);
    assert.match(error?.message ?? '', /no connection was made/);
    assert.equal(posts(world.sandbox, `/v1/sites/${siteId}/deploy`).length, 0);
  });

  test('of a backup is tried five times, and then not started', async () => {
    const { belay, way } = await behindRelay();
    way.close();
    const serverId = fresh('s');
    const { error, backup } = await resultOf(
      await belay.start({ serverId, siteIds: [], backup: { intervalMs: 300, tries: 60 } }),
    );
    assert.deepEqual(endOf({ error, part: backup! }), NOT_SENT);
    assert.equal(posts(world.sandbox, `/v1/servers/${serverId}/backups`).length, 0);
  });

  test('of a deployment is sent once the service is there again: one deployment, nothing ambiguous', async () => {
    const { belay, way } = await behindRelay();
    const { run, siteId } = await deploy(belay, way, { intervalMs: 2_000, tries: 20 });
    await attempts(deploySiteId(siteId), 2);
    await way.open();
    const { outcome, deployments } = await resultOf(run);
    assert.equal(outcome, 'completed');
    assert.equal(deployments[0]?.trigger.ambiguous, false);
    assert.equal(began(world.sandbox, 'deployment', siteId).length, 1);
  });

  test('of a backup is sent once the service is there again: one backup, nothing ambiguous', async () => {
    const { belay, way } = await behindRelay();
    way.close();
    const serverId = fresh('s');
    const run = await belay.start({ serverId, siteIds: [], backup: { intervalMs: 2_000, tries: 20 } });
    await attempts(backupServerId(serverId), 2);
    await way.open();
    const { outcome, backup } = await resultOf(run);
    assert.equal(outcome, 'completed');
    assert.equal(backup?.trigger.ambiguous, false);
    assert.equal(began(world.sandbox, 'backup', serverId).length, 1);
  });
});
