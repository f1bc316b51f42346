import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { startSandbox, type Sandbox } from '../src/sandbox/server.ts';
import { atEnd } from './support/at-end.ts';
import { eventually } from './support/eventually.ts';
import { began, reads } from './support/journal.ts';
import { start, startWorkerProcess, type Started } from './support/processes.ts';
import { startDurableTemporal, type DurableTemporal } from './support/temporal.ts';
import { fresh, TOKEN } from './support/world.ts';

const PACE = ['--backup-interval', '1s', '--backup-tries', '20', '--deploy-interval', '1s', '--deploy-tries', '20'];

let sandbox: Sandbox;
let temporal: DurableTemporal;
let worker: Started;

before(async () => {
  sandbox = await startSandbox({
    token: TOKEN,
    defaults: { backup: { durationMs: 4_000 }, deployment: { durationMs: 4_000 } },
  });
  atEnd(() => sandbox.close());
  temporal = await startDurableTemporal();
  worker = await newWorker();
});

const place = () => ({ TEMPORAL_ADDRESS: temporal.server.address });

function newWorker(): Promise<Started> {
  return startWorkerProcess({ ...place(), BELAY_API_URL: sandbox.url, BELAY_API_TOKEN: TOKEN });
}

async function killWorker(): Promise<void> {
  worker.process.kill('SIGKILL');
  await worker.finished;
}

async function killServer(): Promise<void> {
  process.kill(temporal.server.pid, 'SIGKILL');
  await temporal.server.ended;
}

const KILLED: Record<string, () => Promise<void>> = {
  async 'the worker'() {
    await killWorker();
    worker = await newWorker();
  },
  async 'the Temporal server'() {
    await killServer();
    await temporal.restart();
  },
  async 'both at once'() {
    await Promise.all([killWorker(), killServer()]);
    await temporal.restart();
    worker = await newWorker();
  },
};

for (const [what, kill] of Object.entries(KILLED)) {
  for (const during of ['backup', 'deployment'] as const) {
    test(`${what} killed while a ${during} is waited for: the run completes, with one backup and one deployment`, async () => {
      const [serverId, siteId] = [fresh('s'), fresh('a')];
      const running = start(['run', '--server', serverId, '--site', siteId, ...PACE, '--json'], place());
      const target = during === 'backup' ? serverId : siteId;
      const begun = await eventually(`the ${during}`, () => began(sandbox, during, target)[0]);
      const path = during === 'backup' ? `/v1/backups/${begun.began?.id}` : `/v1/sites/${siteId}/deployments/latest`;
      const seen = reads(sandbox, path).length;
      await eventually('a read', () => reads(sandbox, path).length > seen);
      await kill();
      const { code, json, stderr } = await running.finished;
      assert.equal(code, 0, stderr);
      assert.equal(json().outcome, 'completed');
      assert.equal(began(sandbox, 'backup', serverId).length, 1);
      assert.equal(began(sandbox, 'deployment', siteId).length, 1);
    });
  }
}
