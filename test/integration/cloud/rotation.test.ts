/** API keys and client certificates that change while a run is in flight. Programs look at their files every 10 s. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startSandbox, type Sandbox } from '../../../src/sandbox/server.ts';
import { atEnd } from '../../support/at-end.ts';
import { createAuthority } from '../../support/certificates.ts';
import {
  startCertifiedCloud,
  startKeyedCloud,
  type Cloud,
  type CloudWithCertificates,
  type CloudWithKeys,
} from '../../support/cloud.ts';
import { PACE } from '../../support/command-line.ts';
import { eventually } from '../../support/eventually.ts';
import type { Front } from '../../support/front.ts';
import { runInProcess } from '../../support/in-process.ts';
import { began } from '../../support/journal.ts';
import { lastingPort } from '../../support/lasting-port.ts';
import { start, startWebhooks, type Finished, type Started } from '../../support/processes.ts';
import { TOKEN } from '../../support/world.ts';

interface Running {
  sandbox: Sandbox;
  worker: Started;
  /** Of the worker. */
  metrics(): Promise<string>;
}

const HOUR = 3_600_000;

/** A worker that does not get access until it is repaired. Its backups last until the test ends them. */
async function startWorkerOnce({ env }: Cloud, why: RegExp, repair: () => void): Promise<Running> {
  const sandbox = await startSandbox({ token: TOKEN, defaults: { backup: { durationMs: HOUR } } });
  atEnd(() => sandbox.close());
  const address = `127.0.0.1:${await lastingPort()}`;
  const service = { BELAY_API_URL: sandbox.url, BELAY_API_TOKEN: TOKEN };
  const worker = start(['worker'], { ...env, ...service, BELAY_METRICS_ADDRESS: address });
  await eventually('a line', () => why.test(worker.output.stderr));
  assert.ok(!worker.output.stderr.includes('"polling"'));
  repair();
  await eventually('polls', () => worker.output.stderr.includes('"polling"'));
  const metrics = async () => (await fetch(`http://${address}/metrics`)).text();
  return { sandbox, worker, metrics };
}

const RUN = ['--server', 's1', '--site', 'a1', ...PACE];

/** The backup of the run, which goes on. */
const backup = ({ sandbox }: Running) => eventually('the backup', () => began(sandbox, 'backup', 's1').length === 1);

/** The run ends well on new connections. */
async function endOnNewConnections(front: Front, { sandbox }: Running, end: () => Promise<Finished>): Promise<void> {
  front.drop();
  sandbox.finish({ server: 's1' }, 'completed');
  const { code, stdout, stderr } = await end();
  assert.equal(code, 0, stdout + stderr);
  assert.equal(began(sandbox, 'backup', 's1').length, 1);
}

/** Each program asks for this once, when it connects. */
async function connected(front: Front, programs: number): Promise<void> {
  let seen = 0;
  await eventually('new connections', () => (seen += front.count().GetSystemInfo ?? 0) >= programs);
}

const good = (isGood: boolean) => new RegExp(`^belay_temporal_credentials_good ${isGood ? 1 : 0}$`, 'm');
const occurrences = (text: string, part: string) => text.split(part).length - 1;

describe('credentials that change', { concurrency: 2 }, () => {
  // The longest ones first: Temporal refuses the worker for a minute.
  describe('API keys', { concurrency: 1 }, () => {
    let cloud: CloudWithKeys;
    let running: Running;

    test('a worker waits while Temporal refuses its API key, and works with the next one', async () => {
      cloud = await startKeyedCloud('revoked-key-canary');
      cloud.front.accept(['first-key-canary']);
      const denied = /not ready: Temporal at \S+ denies access/;
      running = await startWorkerOnce(cloud, denied, () => cloud.put('first-key-canary'));
    });

    test('an API key is replaced in the profile file while a run is in flight, and one that Temporal refuses leaves the old one in use', async () => {
      const { worker } = running;
      const run = start(['run', ...RUN], cloud.env);
      await backup(running);
      cloud.put('wrong-key-canary');
      await eventually('the metric', async () => good(false).test(await running.metrics()));
      const denied = /stay as they were: Temporal at localhost:\d+ denies access: check the API key/;
      await eventually('the line', () => denied.test(worker.output.stderr));
      cloud.front.accept(['first-key-canary', 'second-key-canary']);
      cloud.put('second-key-canary');
      // Only the one who waits for the run asks this. The worker waits for access as long as it has to.
      await eventually('the new key', () => cloud.front.wasCalled('DescribeWorkflowExecution', 'second-key-canary'));
      cloud.front.accept(['second-key-canary']);
      await endOnNewConnections(cloud.front, running, () => run.finished);
      const output = [worker, run].map((it) => it.output.stdout + it.output.stderr).join('');
      assert.doesNotMatch(output, /key-canary/);
    });

    test('a worker that Temporal refuses for a minute ends, so that its supervisor starts it again', async () => {
      cloud.front.accept(['another-key-canary']);
      cloud.front.drop();
      const { code, stderr } = await running.worker.finished;
      assert.equal(code, 7, stderr);
      assert.match(stderr, /belay: the worker failed: see "Worker failed" in its log, then start it again/);
    });
  });

  describe('client certificates', { concurrency: 1 }, () => {
    let cloud: CloudWithCertificates;
    let running: Running;

    test('a worker waits while its certificate has expired, and works with the next one', async () => {
      cloud = await startCertifiedCloud();
      cloud.put(cloud.clients.issue('belay', { endsMs: Date.now() - 24 * HOUR }));
      const expired = /not ready: the client certificate in .* expired on/;
      running = await startWorkerOnce(cloud, expired, () => cloud.put(cloud.clients.issue('belay')));
    });

    test('client certificates are replaced while a run is in flight, and one that cannot be used leaves the old one in use', async () => {
      const receiver = await startWebhooks(cloud.env, '--unverified');
      const { json } = await runInProcess(['run', ...RUN, '--detach', '--json'], cloud.env);
      await backup(running);
      const [one, other] = [cloud.clients.issue('belay'), cloud.clients.issue('belay')];
      cloud.put({ cert: one.cert, key: other.key });
      await eventually('the metric', async () => good(false).test(await running.metrics()));
      const line = `stay as they were: the client certificate in ${cloud.secret.path('tls.crt')} belongs to another key`;
      await eventually('the line', () => occurrences(running.worker.output.stderr, line) === 1);
      // On new connections, the old one still works.
      cloud.front.drop();
      cloud.put(one);
      await eventually('the metric', async () => good(true).test(await running.metrics()));
      cloud.front.count();
      const later = createAuthority('Second authority of the clients');
      cloud.front.askFor(later);
      cloud.put(later.issue('belay', { endsMs: Date.now() + 30 * 24 * HOUR }));
      await connected(cloud.front, 2);
      await endOnNewConnections(cloud.front, running, async () => {
        await eventually('a receiver that is ready', async () => (await fetch(`${receiver.url}/readyz`)).ok);
        return runInProcess(['wait', String(json().workflowId)], cloud.env);
      });
      const changed = 'the credentials for Temporal changed: the new ones are in use';
      await eventually('the line', () => running.worker.output.stderr.includes(changed));
      assert.equal(occurrences(running.worker.output.stderr, line), 1);
      const seconds = Number(/^belay_certificate_expires_seconds (\S+)$/m.exec(await running.metrics())?.[1]);
      assert.ok(seconds > 29 * 86_400 && seconds < 30 * 86_400, String(seconds));
      // The other test takes longer, and they would poll meanwhile.
      for (const { process } of [running.worker, receiver]) process.kill('SIGTERM');
    });
  });
});
