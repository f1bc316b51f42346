import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startSandbox, type Sandbox } from '../../../src/sandbox/server.ts';
import { readDevServerRecord } from '../../../src/config/dev-server-record.ts';
import { atEnd } from '../../support/at-end.ts';
import { DEPLOY_PACE } from '../../support/command-line.ts';
import { runInProcess } from '../../support/in-process.ts';
import { commandOf, descendants, gone } from '../../support/process-tree.ts';
import { environment, startDev, treeOf, type Dev, type Finished } from '../../support/processes.ts';
import { pathWithTemporal, tempFolder } from '../../support/temporal.ts';
import { TOKEN } from '../../support/world.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

const PACE = ['--backup-interval', '1s', '--deploy-interval', '1s'];

type Home = Record<'BELAY_HOME', string>;
const newHome = async (): Promise<Home> => ({ BELAY_HOME: await tempFolder() });

interface Devs {
  /** Has the sandbox of the tests as its service. */
  served: { dev: Dev; home: Home; sandbox: Sandbox };
  /** Two that started at once, without a service. The one that was refused has no Temporal server. */
  inOneFolder: { devs: [Dev, Dev]; env: Home & { PATH: string } };
}

/** The address in the record of a dev that does not run. */
const ABSENT = '127.0.0.1:1';

async function startDevs(): Promise<Devs> {
  const quick = { durationMs: 500 };
  const sandbox = await startSandbox({ token: TOKEN, defaults: { backup: quick, deployment: quick } });
  atEnd(() => sandbox.close());
  const [home, shared] = [await newHome(), await newHome()];
  leaveRecord(home, process.pid, ABSENT);
  // The record of a killed dev makes no difference.
  leaveRecord(shared, 2 ** 22 + 1, 'x:1');
  const PATH = await pathWithTemporal();
  const env = { ...shared, PATH };
  const config = join(home.BELAY_HOME, 'belay.yaml');
  await writeFile(config, '# nothing yet\n');
  const service = { BELAY_API_URL: sandbox.url, BELAY_API_TOKEN: TOKEN, BELAY_CONFIG: config };
  const [dev, ...devs] = await Promise.all([startDev({ ...home, ...service, PATH }), startDev(env), startDev(env)]);
  return { served: { dev, home, sandbox }, inOneFolder: { devs, env } };
}

/** That which needs no service, of the two in one folder. */
const devOfFolder = ({ inOneFolder: { devs } }: Devs): Dev => devs.find(({ ready }) => 'temporal' in ready)!;

/** What a dev that was killed leaves behind. */
const leaveRecord = ({ BELAY_HOME }: Home, pid: number, temporal: string) =>
  writeFileSync(join(BELAY_HOME, 'dev.json'), JSON.stringify({ pid, temporal, ui: null }));

// Within a group, one test continues where the other ended.
describe('belay dev', { concurrency: 4 }, () => {
  let devs: Devs;
  before(async () => {
    devs = await startDevs();
  });

  describe('devs in one folder', { concurrency: 1 }, () => {
    let dev: Dev;
    let env: Devs['inOneFolder']['env'];
    let npx: ChildProcess;
    let workflowId: string;
    const builtAtMs = () => statSync(join(ROOT, 'dist/cli.js')).mtimeMs;
    const builtMs = builtAtMs();

    test('one of two concurrent starts of dev in the same folder is refused', () => {
      // The first line of the refused one is its error.
      assert.deepEqual(devs.inOneFolder.devs.map(({ ready }) => 'temporal' in ready).sort(), [false, true]);
      [dev, { env }] = [devOfFolder(devs), devs.inOneFolder];
    });

    // One of them has the default port, if that is free.
    test('two concurrent dev processes have receivers on different ports', () => {
      const [one, other] = [dev.ready.webhooks, devs.served.dev.ready.webhooks];
      assert.ok(one && other && one !== other, `${one} and ${other}`);
    });

    test('a second dev in the same folder is refused, and so is one whose port is in use', async () => {
      const same = await runInProcess(['dev', '--json'], env);
      assert.equal(same.code, 2);
      assert.match(same.json().error?.message ?? '', /is already running in .*BELAY_HOME/);
      const port = dev.ready.temporal.split(':')[1] ?? '';
      const taken = await runInProcess(['dev', '--temporal-port', port], await newHome());
      assert.equal(taken.code, 2);
      assert.match(taken.stderr, new RegExp(`port ${port} .*--temporal-port`));
    });

    test('the processes of dev end when dev is killed', async () => {
      const started = await runInProcess(['backup', '--server', 's1', '--detach', '--json'], env);
      workflowId = String(started.json().workflowId);
      const tree = treeOf(dev);
      dev.process.kill('SIGKILL');
      await dev.finished;
      // At once: its server may still be ending.
      npx = await devByNpx(env);
      await gone(tree);
    });

    test('dev keeps its runs if it is killed and restarted', async () => {
      await once(npx.stdout!, 'data');
      const status = await runInProcess(['status', workflowId, '--json'], env);
      assert.equal(status.code, 0, status.stderr);
      assert.equal(status.json().workflowId, workflowId);
    });

    test('the processes of npx belay dev end when npx gets SIGTERM', async () => {
      const tree = descendants(npx.pid ?? 0);
      assert.ok(tree.length >= 3);
      assert.equal(builtAtMs(), builtMs, 'npx built it anew');
      assert.ok(readDevServerRecord(env.BELAY_HOME) !== null);
      npx.kill('SIGTERM');
      await gone(tree);
      // Only a dev that ends by itself takes it away.
      assert.equal(readDevServerRecord(env.BELAY_HOME), null);
    });
  });

  describe('a dev with a service', { concurrency: 1 }, () => {
    let ended: Finished;

    test('dev ignores the record of a killed dev, even if another process has its PID now', () => {
      assert.notEqual(devs.served.dev.ready.temporal, ABSENT);
    });

    test('dev prints all its addresses in one line of JSON', () => {
      const { dev, sandbox } = devs.served;
      assert.deepEqual(Object.keys(dev.ready), ['temporal', 'ui', 'webhooks', 'board', 'service']);
      assert.equal(dev.ready.service, sandbox.url);
    });

    test('dev reads belay.yaml again when it changes, and deploys nothing in a freeze that was added', async () => {
      const { home } = devs.served;
      const freeze = 'freezes: { always: { from: 2020-01-01T00:00, to: 2100-01-01T00:00, reason: stock } }\n';
      const deploy = async () => (await runInProcess(['deploy', '--site', 'a2', ...DEPLOY_PACE, '--json'], home)).code;
      await writeFile(join(home.BELAY_HOME, 'belay.yaml'), freeze);
      assert.equal(await deploy(), 5);
      await writeFile(join(home.BELAY_HOME, 'belay.yaml'), '# nothing again\n');
      assert.equal(await deploy(), 0);
    });

    test('the token is in no file of BELAY_HOME, in no output, and in no arguments or environment of a child process', async () => {
      const { dev, home, sandbox } = devs.served;
      const args = ['run', '--server', 's1', '--site', 'a1', ...PACE, '--json'];
      const good = await runInProcess(args, home);
      sandbox.setToken('another');
      const refused = await runInProcess(args, home);
      assert.deepEqual([good.code, refused.code], [0, 6]);
      const tree = treeOf(dev);
      for (const pid of tree) {
        for (const file of ['cmdline', 'environ']) {
          assert.ok(!readFileSync(`/proc/${pid}/${file}`, 'latin1').includes(TOKEN), `${file} of ${commandOf(pid)}`);
        }
      }
      process.kill(tree.find(isServer)!, 'SIGKILL');
      ended = await dev.finished;
      const { stdout, stderr } = ended;
      for (const text of [stdout, stderr, good.stdout, good.stderr, refused.stdout, refused.stderr])
        assert.ok(!text.includes(TOKEN));
      for (const name of await readdir(home.BELAY_HOME)) {
        const text = await readFile(join(home.BELAY_HOME, name), 'latin1');
        assert.ok(!text.includes(TOKEN), `${name} holds the token`);
      }
      await gone(tree);
    });

    test('dev exits 7 and reports why when its Temporal server dies', () => {
      const { code, stderr } = ended;
      assert.equal(code, 7);
      assert.match(stderr, /the Temporal server stopped/);
    });
  });

  test('dev refuses to start the sandbox with a Temporal server that it does not start', async () => {
    const home = await tempFolder();
    const profiles = join(home, 'temporal.toml');
    await writeFile(profiles, '[profile.tunnel]\naddress = "127.0.0.1:7244"\n');
    const others: [address: string, env: Record<string, string>][] = [
      // A loopback address may be forwarded to production.
      ...['temporal.example:7233', '127.0.0.1:7233', 'localhost:7233', '[::1]:7233'].map(
        (address): [string, Record<string, string>] => [address, { TEMPORAL_ADDRESS: address }],
      ),
      ['127.0.0.1:7244', { TEMPORAL_PROFILE: 'tunnel', TEMPORAL_CONFIG_FILE: profiles }],
    ];
    for (const [address, env] of others) {
      const { code, stderr } = await runInProcess(['dev'], { ...env, BELAY_HOME: home });
      assert.equal(code, 2, address);
      assert.ok(
        stderr.includes(`only with a Temporal server of its own, not with ${address}: set BELAY_API_URL`),
        stderr,
      );
    }
  });
});

const isServer = (pid: number) => commandOf(pid).includes('start-dev') && !commandOf(pid).includes('guard');

async function devByNpx(home: Devs['inOneFolder']['env']): Promise<ChildProcess> {
  const args = ['--no', 'belay', 'dev', '--temporal-port', '0', '--ui-port', '0'];
  // As on a machine where npx was never used: npx runs the prepare script, which must not rebuild.
  const env = environment({ ...home, npm_config_cache: await tempFolder() });
  const npx = spawn('npx', args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'ignore'] });
  atEnd(async () => void npx.kill('SIGTERM'));
  return npx;
}
