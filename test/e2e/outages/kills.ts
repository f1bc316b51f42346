import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startSandbox, type Sandbox } from '../../../src/sandbox/server.ts';
import { atEnd } from '../../support/at-end.ts';
import { eventually } from '../../support/eventually.ts';
import { began, reads } from '../../support/journal.ts';
import { start, startWorkerProcess, type Finished, type Started } from '../../support/processes.ts';
import { startDurableTemporal, type DurableTemporal } from '../../support/temporal.ts';
import { fresh, TOKEN } from '../../support/world.ts';

const PACE = ['--backup-interval', '1s', '--backup-tries', '90', '--deploy-interval', '1s', '--deploy-tries', '90'];

let sandbox: Sandbox;
let temporal: DurableTemporal;
let worker: Started;
const place = () => ({ TEMPORAL_ADDRESS: temporal.server.address });

const newWorker = (): Promise<Started> =>
  startWorkerProcess({ ...place(), BELAY_API_URL: sandbox.url, BELAY_API_TOKEN: TOKEN });

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

type Phase = 'backup' | 'deployment';

interface Running {
  serverId: string;
  siteId: string;
  finished: Promise<Finished>;
  /** Ends the operation that the run waits for. */
  finish: () => void;
}

/** A run that has read its operation, which continues until the test finishes it. */
async function runDuring(phase: Phase): Promise<Running> {
  const [serverId, siteId] = [fresh('s'), fresh('a')];
  const target = phase === 'backup' ? { server: serverId } : { site: siteId };
  sandbox.script(target, { ends: 'never' });
  const { finished } = start(['run', '--server', serverId, '--site', siteId, ...PACE, '--json'], place());
  const begun = await eventually(
    `the ${phase}`,
    () => began(sandbox, phase, phase === 'backup' ? serverId : siteId)[0],
  );
  const path = phase === 'backup' ? `/v1/backups/${begun.began?.id}` : `/v1/sites/${siteId}/deployments/latest`;
  const seen = reads(sandbox, path).length;
  await eventually('a read', () => reads(sandbox, path).length > seen);
  return { serverId, siteId, finished, finish: () => sandbox.finish(target, 'completed') };
}

describe('real kills', () => {
  before(async () => {
    sandbox = await startSandbox({ token: TOKEN, defaults: { backup: { durationMs: 500 } } });
    atEnd(() => sandbox.close());
    temporal = await startDurableTemporal();
    worker = await newWorker();
  });
  // Idle ones would take time from the tests after them.
  after(() => Promise.all([killWorker(), killServer()]));

  for (const [what, kill] of Object.entries(KILLED)) {
    describe(`of ${what}`, () => {
      let during: Record<Phase, Running>;
      // One kill meets a run in each phase.
      before(async () => {
        const [backup, deployment] = await Promise.all([runDuring('backup'), runDuring('deployment')]);
        during = { backup, deployment };
        const killed = kill();
        // While nobody looks.
        for (const running of [backup, deployment]) running.finish();
        await killed;
      });

      for (const phase of ['backup', 'deployment'] as const) {
        test(`a run completes with one backup and one deployment after a SIGKILL of ${what} during its ${phase}`, async () => {
          const { serverId, siteId, finished } = during[phase];
          const { code, json, stderr } = await finished;
          assert.equal(code, 0, stderr);
          assert.equal(json().outcome, 'completed');
          assert.equal(began(sandbox, 'backup', serverId).length, 1);
          assert.equal(began(sandbox, 'deployment', siteId).length, 1);
        });
      }
    });
  }
});
