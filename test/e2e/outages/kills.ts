import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startSandbox, type Sandbox } from '../../../src/sandbox/server.ts';
import { atEnd } from '../../support/at-end.ts';
import { eventually } from '../../support/eventually.ts';
import { began, reads } from '../../support/journal.ts';
import { start, startWorkerProcess, type Started } from '../../support/processes.ts';
import { startDurableTemporal, type DurableTemporal } from '../../support/temporal.ts';
import { fresh, TOKEN } from '../../support/world.ts';

const PACE = ['--backup-interval', '1s', '--backup-tries', '20', '--deploy-interval', '1s', '--deploy-tries', '20'];

interface Stage {
  sandbox: Sandbox;
  temporal: DurableTemporal;
  worker: Started;
}

async function newStage(): Promise<Stage> {
  const defaults = { backup: { durationMs: 4_000 }, deployment: { durationMs: 4_000 } };
  const sandbox = await startSandbox({ token: TOKEN, defaults });
  atEnd(() => sandbox.close());
  const temporal = await startDurableTemporal();
  return { sandbox, temporal, worker: await newWorker({ sandbox, temporal }) };
}

const placeOf = ({ temporal }: Pick<Stage, 'temporal'>) => ({ TEMPORAL_ADDRESS: temporal.server.address });

const newWorker = (stage: Omit<Stage, 'worker'>): Promise<Started> =>
  startWorkerProcess({ ...placeOf(stage), BELAY_API_URL: stage.sandbox.url, BELAY_API_TOKEN: TOKEN });

async function killWorker({ worker }: Stage): Promise<void> {
  worker.process.kill('SIGKILL');
  await worker.finished;
}

async function killServer({ temporal }: Stage): Promise<void> {
  process.kill(temporal.server.pid, 'SIGKILL');
  await temporal.server.ended;
}

const KILLED: Record<string, (stage: Stage) => Promise<void>> = {
  async 'the worker'(stage) {
    await killWorker(stage);
    stage.worker = await newWorker(stage);
  },
  async 'the Temporal server'(stage) {
    await killServer(stage);
    await stage.temporal.restart();
  },
  async 'both at once'(stage) {
    await Promise.all([killWorker(stage), killServer(stage)]);
    await stage.temporal.restart();
    stage.worker = await newWorker(stage);
  },
};

describe('killed for real', { concurrency: 3 }, () => {
  for (const [what, kill] of Object.entries(KILLED)) {
    for (const during of ['backup', 'deployment'] as const) {
      test(`${what} killed while a ${during} is waited for: the run completes, with one backup and one deployment`, async () => {
        const stage = await newStage();
        const { sandbox } = stage;
        const [serverId, siteId] = [fresh('s'), fresh('a')];
        const running = start(['run', '--server', serverId, '--site', siteId, ...PACE, '--json'], placeOf(stage));
        const target = during === 'backup' ? serverId : siteId;
        const begun = await eventually(`the ${during}`, () => began(sandbox, during, target)[0]);
        const path = during === 'backup' ? `/v1/backups/${begun.began?.id}` : `/v1/sites/${siteId}/deployments/latest`;
        const seen = reads(sandbox, path).length;
        await eventually('a read', () => reads(sandbox, path).length > seen);
        await kill(stage);
        const { code, json, stderr } = await running.finished;
        assert.equal(code, 0, stderr);
        assert.equal(json().outcome, 'completed');
        assert.equal(began(sandbox, 'backup', serverId).length, 1);
        assert.equal(began(sandbox, 'deployment', siteId).length, 1);
      });
    }
  }
});
