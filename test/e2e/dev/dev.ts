import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startSandbox } from '../../../src/sandbox/server.ts';
import { atEnd } from '../../support/at-end.ts';
import { eventually } from '../../support/eventually.ts';
import { descendants, isAlive, run, start, startDev, type Dev } from '../../support/processes.ts';
import { tempFolder } from '../../support/temporal.ts';
import { TOKEN } from '../../support/world.ts';

/** The Temporal server and whatever stands around it. */
async function treeOf(dev: Dev): Promise<number[]> {
  const tree = descendants(dev.process.pid ?? 0);
  assert.ok(
    tree.some((pid) => commandOf(pid).includes('start-dev')),
    'there is a Temporal server',
  );
  return tree;
}

const commandOf = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'utf8');
const gone = (tree: number[]) =>
  eventually('the end of all processes', () => tree.every((pid) => !isAlive(pid)), 30_000);

// Each has a folder and ports of its own.
describe('dev and demo', { concurrency: 3 }, () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    test(`dev without a service brings the sandbox, and stops with all it started on ${signal}`, async () => {
      const env = { BELAY_HOME: await tempFolder() };
      const dev = await startDev(env);
      const tree = await treeOf(dev);
      const pace = ['--backup-interval', '1s', '--deploy-interval', '1s'];
      assert.equal((await run(['run', '--server', 's1', '--site', 'a1', ...pace], env)).code, 0);
      dev.process.kill(signal);
      assert.equal((await dev.finished).code, 0);
      await gone(tree);
    });
  }

  test('what dev started is gone when dev was killed', async () => {
    const dev = await startDev({ BELAY_HOME: await tempFolder() });
    const tree = await treeOf(dev);
    dev.process.kill('SIGKILL');
    await dev.finished;
    await gone(tree);
  });

  test('what npx started is gone when npx was asked to end', async () => {
    const args = ['--no', 'belay', 'dev', '--temporal-port', '0', '--ui-port', '0'];
    // On a machine where npx was never used, it would prepare the package first, under the feet of whoever runs it.
    const env = { ...process.env, BELAY_HOME: await tempFolder(), npm_config_cache: await tempFolder() };
    const cwd = fileURLToPath(new URL('../../..', import.meta.url));
    const built = () => statSync(join(cwd, 'dist/cli.js')).mtimeMs;
    const builtMs = built();
    const npx = spawn('npx', args, { cwd, env, stdio: ['ignore', 'pipe', 'ignore'] });
    await once(npx.stdout, 'data');
    const tree = descendants(npx.pid ?? 0);
    assert.ok(tree.length >= 3);
    assert.equal(built(), builtMs, 'npx built it anew');
    npx.kill('SIGTERM');
    await gone(tree);
  });

  test('dev ends, and says so, when its Temporal server does', async () => {
    const dev = await startDev({ BELAY_HOME: await tempFolder() });
    const tree = await treeOf(dev);
    process.kill(
      tree.find((pid) => commandOf(pid).includes('start-dev') && !commandOf(pid).includes('guard'))!,
      'SIGKILL',
    );
    const { code, stderr } = await dev.finished;
    assert.equal(code, 7);
    assert.match(stderr, /the Temporal server ended/);
    await gone(tree);
  });

  test('dev keeps its runs over a restart, killed or not', async () => {
    const env = { BELAY_HOME: await tempFolder() };
    const first = await startDev(env);
    const started = await run(['backup', '--server', 's1', '--detach', '--json'], env);
    const workflowId = String(started.json().workflowId);
    first.process.kill('SIGKILL');
    await first.finished;
    await startDev(env);
    const status = await run(['status', workflowId, '--json'], env);
    assert.equal(status.json().workflowId, workflowId);
    assert.equal(status.json().outcome, null);
  });

  test('a second dev in the same folder is refused, one whose port is taken, too', async () => {
    const env = { BELAY_HOME: await tempFolder() };
    const dev = await startDev(env);
    const same = await run(['dev', '--json'], env);
    assert.equal(same.code, 2);
    assert.match(same.json().error?.message ?? '', /runs already in .*BELAY_HOME/);
    const port = dev.ready.temporal.split(':')[1] ?? '';
    const taken = await run(['dev', '--temporal-port', port], { BELAY_HOME: await tempFolder() });
    assert.equal(taken.code, 2);
    assert.match(taken.stderr, new RegExp(`port ${port} .*--temporal-port`));
  });

  test('of two dev started at once in the same folder one is refused', async () => {
    const env = { BELAY_HOME: await tempFolder() };
    // What a killed one left behind makes no difference.
    writeFileSync(join(env.BELAY_HOME, 'dev.json'), JSON.stringify({ pid: 2 ** 22 + 1, temporal: 'x:1', ui: null }));
    // The first line of the refused one tells why.
    const both = await Promise.all([startDev(env), startDev(env)]);
    assert.deepEqual(both.map(({ ready }) => 'temporal' in ready).sort(), [false, true]);
  });

  test('what a killed dev left behind does not keep the next one out, though its number is somebody else’s now', async () => {
    const home = await tempFolder();
    writeFileSync(join(home, 'dev.json'), JSON.stringify({ pid: process.pid, temporal: '127.0.0.1:1', ui: null }));
    const dev = await startDev({ BELAY_HOME: home });
    assert.notEqual(dev.ready.temporal, '127.0.0.1:1');
  });

  test('the sandbox never goes with a Temporal that is not on this machine', async () => {
    const { code, stderr } = await run(['dev'], {
      TEMPORAL_ADDRESS: 'temporal.example:7233',
      BELAY_HOME: await tempFolder(),
    });
    assert.equal(code, 2);
    assert.match(stderr, /sandbox doesn't go with the Temporal at temporal\.example:7233: set BELAY_API_URL/);
  });

  test('the demo runs a backup and a deployment to completed, tells where to see it, and leaves nothing behind', async () => {
    const demo = start(['demo'], { BELAY_HOME: await tempFolder() });
    const tree = await eventually('its processes', () => {
      const pids = descendants(demo.process.pid ?? 0);
      return pids.length >= 2 ? pids : null;
    });
    const { code, stdout, stderr } = await demo.finished;
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^completed in \d+ s/);
    assert.match(
      stdout,
      /in the Temporal UI: http:\/\/127\.0\.0\.1:\d+\/namespaces\/default\/workflows\/backup-then-deploy/,
    );
    await gone(tree);
  });

  test('the token is in no file of BELAY_HOME, no output, no argument list and no environment but the worker’s', async () => {
    const sandbox = await startSandbox({
      token: TOKEN,
      defaults: { backup: { durationMs: 500 }, deployment: { durationMs: 500 } },
    });
    atEnd(() => sandbox.close());
    const home = await tempFolder();
    const dev = await startDev({ BELAY_HOME: home, BELAY_API_URL: sandbox.url, BELAY_API_TOKEN: TOKEN });
    const pace = ['--backup-interval', '1s', '--deploy-interval', '1s', '--json'];
    const good = await run(['run', '--server', 's1', '--site', 'a1', ...pace], { BELAY_HOME: home });
    sandbox.setToken('another');
    const refused = await run(['run', '--server', 's1', '--site', 'a1', ...pace], { BELAY_HOME: home });
    assert.deepEqual([good.code, refused.code], [0, 6]);
    for (const pid of await treeOf(dev)) {
      for (const file of ['cmdline', 'environ']) {
        assert.ok(!readFileSync(`/proc/${pid}/${file}`, 'latin1').includes(TOKEN), `${file} of ${commandOf(pid)}`);
      }
    }
    dev.process.kill('SIGTERM');
    const { stdout, stderr } = await dev.finished;
    for (const text of [stdout, stderr, good.stdout, good.stderr, refused.stdout, refused.stderr])
      assert.ok(!text.includes(TOKEN));
    for (const name of await readdir(home)) {
      assert.ok(!(await readFile(join(home, name), 'latin1')).includes(TOKEN), `${name} holds the token`);
    }
  });
});
