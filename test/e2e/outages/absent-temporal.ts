import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startSandbox, type Sandbox } from '../../../src/sandbox/server.ts';
import { atEnd } from '../../support/at-end.ts';
import { eventually } from '../../support/eventually.ts';
import { began, reads } from '../../support/journal.ts';
import { run, start, startWorkerProcess, type Finished } from '../../support/processes.ts';
import { startDurableTemporal, startTemporal } from '../../support/temporal.ts';
import { fresh, TOKEN } from '../../support/world.ts';

const RUN = ['run', '--server', 's1', '--site', 'a1', '--json'];

let sandbox: Sandbox;
before(async () => {
  sandbox = await startSandbox({ token: TOKEN, defaults: { backup: { durationMs: 3_000 } } });
  atEnd(() => sandbox.close());
});

const serviceEnv = () => ({ BELAY_API_URL: sandbox.url, BELAY_API_TOKEN: TOKEN });

function assertSeven({ code, json, stderr }: Finished, type: string): void {
  assert.deepEqual([code, json().outcome, json().error?.type], [7, null, type], stderr);
  assert.ok(!stderr.includes('Warning'), stderr);
}

/** Five seconds on a quiet machine, and far less than a minute on any. */
async function endsSoon(args: string[], env: Record<string, string>): Promise<Finished> {
  const started = start(args, env);
  const late = sleep(40_000, null, { ref: false });
  const finished = await Promise.race([started.finished, late]);
  assert.ok(finished !== null, `${args[0]} goes on trying`);
  return finished;
}

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Takes connections and says nothing. */
async function mutePort(): Promise<number> {
  const server = createServer((socket) => socket.on('error', () => undefined));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(async () => void server.close());
  server.unref();
  return (server.address() as AddressInfo).port;
}

describe('without Temporal or a worker', { concurrency: 4 }, () => {
  // The longest one first: the others pass the while.
  test('Temporal lost for over a minute while waiting: 7, with the command that resumes, which works', async () => {
    const temporal = await startDurableTemporal();
    const env = { TEMPORAL_ADDRESS: temporal.server.address };
    await startWorkerProcess({ ...env, ...serviceEnv() });
    const serverId = fresh('s');
    const waiting = start(['backup', '--server', serverId, '--backup-interval', '1s', '--json'], env);
    const backup = await eventually('the backup', () => began(sandbox, 'backup', serverId)[0]);
    // Lost before its record, the request would have to be made again.
    await eventually('a read', () => reads(sandbox, `/v1/backups/${backup.began?.id}`).length > 0);
    process.kill(temporal.server.pid, 'SIGKILL');
    const finished = await waiting.finished;
    assertSeven(finished, 'TemporalUnreachable');
    const { workflowId, error } = finished.json();
    assert.ok(error?.message.endsWith(`belay wait ${workflowId}`), error?.message);
    await temporal.restart();
    assert.equal((await run(['wait', String(workflowId), '--json'], env)).code, 0);
    assert.equal(began(sandbox, 'backup', serverId).length, 1);
  });

  test('every command exits 7 soon where nobody listens', async () => {
    const env = { TEMPORAL_ADDRESS: `127.0.0.1:${await closedPort()}` };
    for (const args of [
      RUN,
      ['wait', 'deploy:a:k', '--json'],
      ['status', 'deploy:a:k', '--json'],
      ['list', '--json'],
    ]) {
      const finished = await endsSoon(args, env);
      assertSeven(finished, 'TemporalUnreachable');
      assert.match(finished.json().error?.message ?? '', /start `belay dev`, or set TEMPORAL_ADDRESS/);
    }
  });

  test('run exits 7 soon where somebody listens and never answers', async () => {
    const env = { TEMPORAL_ADDRESS: `127.0.0.1:${await mutePort()}` };
    assertSeven(await endsSoon(RUN, env), 'TemporalUnreachable');
  });

  test('Ctrl-C before there is a run ends at once, with one document', async () => {
    const command = start(RUN, { TEMPORAL_ADDRESS: `127.0.0.1:${await mutePort()}` });
    await sleep(2_000);
    command.process.kill('SIGINT');
    const { code, json } = await command.finished;
    assert.deepEqual([code, json().outcome, json().error?.type], [130, null, 'StoppedWaiting']);
  });

  test('run exits 7 where no worker polls, and starts nothing', async () => {
    const env = { TEMPORAL_ADDRESS: (await startTemporal()).address };
    const finished = await endsSoon(RUN, env);
    assertSeven(finished, 'NoWorker');
    assert.match(finished.json().error?.message ?? '', /task queue "belay": start one with `belay worker`/);
    assert.equal((await run(['list'], env)).stdout, 'no runs\n');
  });

  test('a run no worker took up in time is not started by one that comes later', async () => {
    const env = { TEMPORAL_ADDRESS: (await startTemporal()).address };
    const worker = await startWorkerProcess({ ...env, ...serviceEnv() });
    worker.process.kill('SIGKILL');
    await worker.finished;
    const serverId = fresh('s');
    const started = await run(['backup', '--server', serverId, '--start-within', '1s', '--detach', '--json'], env);
    assert.equal(started.code, 0, started.stdout);
    const workflowId = String(started.json().workflowId);
    const status = await run(['status', workflowId], env);
    assert.match(status.stdout, /now: starting/);
    await sleep(1_500);
    await startWorkerProcess({ ...env, ...serviceEnv() });
    const waited = await run(['wait', workflowId, '--json'], env);
    assert.deepEqual([waited.code, waited.json().outcome, waited.json().error?.type], [7, 'not_started', 'NoWorker']);
    assert.equal(began(sandbox, 'backup', serverId).length, 0);
  });

  test('while no worker begins a run, who waits for it is told so, and goes on waiting', async () => {
    const env = { TEMPORAL_ADDRESS: (await startTemporal()).address };
    const worker = await startWorkerProcess({ ...env, ...serviceEnv() });
    worker.process.kill('SIGKILL');
    await worker.finished;
    const waiting = start(['backup', '--server', fresh('s'), '--backup-interval', '1s', '--json'], env);
    // The server may have given its first task to the poll that the dead worker left behind.
    const word = /no worker (has begun the run yet|answers for the run)/;
    await eventually('the word', () => word.test(waiting.output.stderr), 60_000);
    await startWorkerProcess({ ...env, ...serviceEnv() });
    const { code, stderr } = await waiting.finished;
    assert.equal(code, 0, stderr);
  });

  test('status says that no worker answers for a run in flight', async () => {
    const env = { TEMPORAL_ADDRESS: (await startTemporal()).address };
    const worker = await startWorkerProcess({ ...env, ...serviceEnv() });
    const serverId = fresh('s');
    const started = await run(['backup', '--server', serverId, '--backup-interval', '1s', '--detach', '--json'], env);
    await eventually('the backup', () => began(sandbox, 'backup', serverId).length === 1);
    worker.process.kill('SIGKILL');
    await worker.finished;
    const status = await run(['status', String(started.json().workflowId)], env);
    assert.equal(status.code, 0);
    assert.match(status.stdout, /in flight: backup\n[^]*now: no worker answers for the run/);
  });

  test('Ctrl-C ends the waiting, though Temporal hangs', async () => {
    const temporal = await startTemporal();
    const env = { TEMPORAL_ADDRESS: temporal.address };
    await startWorkerProcess({ ...env, ...serviceEnv() });
    const serverId = fresh('s');
    const waiting = start(['backup', '--server', serverId, '--json'], env);
    await eventually('the backup', () => began(sandbox, 'backup', serverId).length === 1);
    process.kill(temporal.pid, 'SIGSTOP');
    try {
      waiting.process.kill('SIGINT');
      const { code, json } = await waiting.finished;
      assert.deepEqual([code, json().outcome, json().error?.type], [130, null, 'StoppedWaiting']);
      assert.ok(json().workflowId?.startsWith(`backup:${serverId}:`));
    } finally {
      process.kill(temporal.pid, 'SIGCONT');
    }
  });

  test('a worker that starts before its Temporal waits for it', async () => {
    const temporal = await startDurableTemporal();
    const env = { TEMPORAL_ADDRESS: temporal.server.address };
    await temporal.server.stop();
    const worker = start(['worker'], { ...env, ...serviceEnv() });
    await eventually('a word', () => worker.output.stderr.includes('nobody listens there; trying again'));
    await temporal.restart();
    await eventually('the worker', () => worker.output.stderr.includes('polling'));
  });
});
