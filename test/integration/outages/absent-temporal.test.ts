import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startSandbox, type Sandbox } from '../../../src/sandbox/server.ts';
import { atEnd } from '../../support/at-end.ts';
import { eventually } from '../../support/eventually.ts';
import { runInProcess } from '../../support/in-process.ts';
import { began, reads } from '../../support/journal.ts';
import { lastingPort } from '../../support/lasting-port.ts';
import { start, type Finished } from '../../support/processes.ts';
import { newPlace } from '../../support/shared-temporal.ts';
import { startDurableTemporal, type DurableTemporal } from '../../support/temporal.ts';
import { fresh, temporalEnv, TOKEN } from '../../support/world.ts';

const RUN = ['run', '--server', 's1', '--site', 'a1', '--json'];

let sandbox: Sandbox;
before(async () => {
  sandbox = await startSandbox({ token: TOKEN, defaults: { backup: { durationMs: 3_000 } } });
  atEnd(() => sandbox.close());
});

const serviceEnv = () => ({ BELAY_API_URL: sandbox.url, BELAY_API_TOKEN: TOKEN });

/** Those of the commands that run in this process. */
const warnings: Error[] = [];
process.on('warning', (warning) => warnings.push(warning));

function assertSeven({ code, json, stderr }: Finished, type: string): void {
  assert.deepEqual([code, json().outcome, json().error?.type], [7, null, type], stderr);
  assert.ok(!stderr.includes('Warning'), stderr);
  assert.deepEqual(warnings, []);
}

/** Five seconds on a quiet machine, and far less than a minute on any, from when the command has begun. */
async function withoutDelay(
  [command]: string[],
  ended: Promise<Finished>,
  begun: Promise<unknown> = Promise.resolve(),
): Promise<Finished> {
  const late = begun.then(() => sleep(40_000, null, { ref: false }));
  const finished = await Promise.race([ended, late]);
  assert.ok(finished !== null, `${command} goes on trying`);
  return finished;
}

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Accepts connections and never answers. */
async function mutePort(): Promise<{ port: number; connected: Promise<unknown> }> {
  const server = createServer((socket) => socket.on('error', () => undefined));
  const connected = once(server, 'connection');
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atEnd(async () => void server.close());
  server.unref();
  return { port: (server.address() as AddressInfo).port, connected };
}

describe('without Temporal or a worker', { concurrency: 4 }, () => {
  // The longest ones first: the others run meanwhile. These share a server and its worker, which starts before it.
  describe('Temporal comes, hangs, dies and returns', { concurrency: 1 }, () => {
    let temporal: DurableTemporal;
    let env: Record<string, string>;

    test('a worker that starts before its Temporal server waits for it', async () => {
      const port = await lastingPort();
      env = { TEMPORAL_ADDRESS: `127.0.0.1:${port}` };
      const worker = start(['worker'], { ...env, ...serviceEnv() });
      await eventually('a word', () => /not ready: .*connection refused/.test(worker.output.stderr));
      temporal = await startDurableTemporal({ port });
      await eventually('the worker', () => worker.output.stderr.includes('polling'));
    });

    test('Ctrl-C stops the wait even if Temporal hangs', async () => {
      const { pid } = temporal.server;
      const serverId = fresh('s');
      const waiting = start(['backup', '--server', serverId, '--json'], env);
      await eventually('the backup', () => began(sandbox, 'backup', serverId).length === 1);
      // Until it has the answer to its start, it knows no run.
      await eventually('its note', () => waiting.output.stderr.includes(`backup:${serverId}:`));
      process.kill(pid, 'SIGSTOP');
      try {
        waiting.process.kill('SIGINT');
        const { code, json } = await waiting.finished;
        assert.deepEqual([code, json().outcome, json().error?.type], [130, null, 'StoppedWaiting']);
        assert.ok(json().workflowId?.startsWith(`backup:${serverId}:`));
      } finally {
        process.kill(pid, 'SIGCONT');
      }
    });

    test('a command exits 7 if Temporal is lost for over a minute, and the command it prints resumes the wait', async () => {
      const serverId = fresh('s');
      const waiting = start(['backup', '--server', serverId, '--backup-interval', '1s', '--json'], env);
      const backup = await eventually('the backup', () => began(sandbox, 'backup', serverId)[0]);
      // A read proves that the request is recorded. Otherwise it would be sent again.
      await eventually('a read', () => reads(sandbox, `/v1/backups/${backup.began?.id}`).length > 0);
      process.kill(temporal.server.pid, 'SIGKILL');
      const finished = await waiting.finished;
      assertSeven(finished, 'TemporalUnreachable');
      const { workflowId, error } = finished.json();
      assert.ok(error?.message.endsWith(`\`belay wait ${workflowId}\``), error?.message);
      await temporal.restart();
      assert.equal((await runInProcess(['wait', String(workflowId), '--json'], env)).code, 0);
      assert.equal(began(sandbox, 'backup', serverId).length, 1);
    });
  });

  test('run, wait, status and list exit 7 promptly if Temporal refuses the connection', async () => {
    const env = { TEMPORAL_ADDRESS: `127.0.0.1:${await closedPort()}` };
    const refused = (finished: Finished) => {
      assertSeven(finished, 'TemporalUnreachable');
      assert.match(finished.json().error?.message ?? '', /start `belay dev`, or set TEMPORAL_ADDRESS/);
    };
    for (const args of [RUN, ['wait', 'deploy:a:k', '--json'], ['status', 'deploy:a:k', '--json'], ['list', '--json']])
      refused(await withoutDelay(args, runInProcess(args, env)));
  });

  test('run exits 7 promptly if Temporal accepts the connection and never answers', async () => {
    const { port, connected } = await mutePort();
    const { finished } = start(RUN, { TEMPORAL_ADDRESS: `127.0.0.1:${port}` });
    assertSeven(await withoutDelay(RUN, finished, connected), 'TemporalUnreachable');
  });

  test('Ctrl-C before the run exists exits 130 with one JSON document', async () => {
    const { port, connected } = await mutePort();
    const command = start(RUN, { TEMPORAL_ADDRESS: `127.0.0.1:${port}` });
    await connected;
    command.process.kill('SIGINT');
    const { code, json } = await command.finished;
    assert.deepEqual([code, json().outcome, json().error?.type], [130, null, 'StoppedWaiting']);
  });

  test('Ctrl-C before `wait` has reached Temporal names the run and how to continue', async () => {
    const { port, connected } = await mutePort();
    const asked = ['deploy:34:k', '--run-id', '01a2244b-1087-7be8-887e-227068df07b3', '--follow'];
    const command = start(['wait', ...asked, '--json'], { TEMPORAL_ADDRESS: `127.0.0.1:${port}` });
    await connected;
    command.process.kill('SIGINT');
    const { code, json, stderr } = await command.finished;
    assert.deepEqual([code, json().workflowId, json().error?.type], [130, 'deploy:34:k', 'StoppedWaiting']);
    assert.ok(stderr.includes(`To continue waiting: \`npx belay-deploy wait ${asked.join(' ')}\``), stderr);
  });

  test('run exits 7 and starts nothing if no worker polls', async () => {
    const env = temporalEnv(await newPlace());
    const finished = await eventually('an answer of a busy Temporal', async () => {
      const it = await start(RUN, env).finished;
      return it.json().error?.type !== 'TemporalUnreachable' && it;
    });
    assertSeven(finished, 'NoWorker');
    assert.match(finished.json().error?.message ?? '', /task queue "belay": start one with `belay worker`/);
    const { stdout } = await eventually('the list of a busy Temporal', async () => {
      const it = await runInProcess(['list'], env);
      return it.code !== 7 && it;
    });
    assert.equal(stdout, 'no runs\n');
  });
});
