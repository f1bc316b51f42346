/** What users install: the packed library, unpacked beside the modules of the repository. */
import '../../../support/timing/use-patient.ts';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { atEnd } from '../../../support/at-end.ts';
import { eventually } from '../../../support/eventually.ts';
import { newKeyFile } from '../../../support/key-files.ts';
import { start, WITH_BUILD } from '../../../support/processes.ts';
import { ROOT } from '../../../support/readme.ts';
import { sharedStack } from '../../../support/shared-stack.ts';
import { fresh, temporalEnv, TOKEN, type TestStack } from '../../../support/world.ts';

const run = promisify(execFile);

let world: TestStack;
/** A project of a user, whose dependencies are found in the repository above it. */
let project: string;
before(async () => {
  if (WITH_BUILD.skip !== undefined) return;
  world = await sharedStack();
  const cache = fileURLToPath(new URL('node_modules/.cache/belay', ROOT));
  await mkdir(cache, { recursive: true });
  project = await mkdtemp(join(cache, 'project-'));
  atEnd(() => rm(project, { recursive: true, force: true }));
  const installed = join(project, 'node_modules/belay-deploy');
  await mkdir(installed, { recursive: true });
  const pack = ['pack', '--ignore-scripts', '--silent', '--pack-destination', project];
  await run('npm', pack, { cwd: fileURLToPath(ROOT) });
  const tarball = (await readdir(project)).find((name) => name.endsWith('.tgz')) ?? '';
  await run('tar', ['-xzf', join(project, tarball), '-C', installed, '--strip-components', '1']);
  await writeFile(join(project, 'package.json'), '{ "type": "module" }');
});

test(
  'the packed library runs a backup and a deployment from a program of a user, and loads no worker',
  WITH_BUILD,
  async () => {
    const program = `
    import { createRequire } from 'node:module';
    import { connect } from 'belay-deploy';
    const belay = await connect();
    const [serverId, siteId] = process.argv.slice(2);
    const pace = { intervalMs: 200, tries: 2000 };
    const run = await belay.start({ serverId, siteIds: [siteId], backup: pace, deploy: pace }, { key: 'release-7' });
    const { outcome, workflowId } = await run.result();
    await belay.close();
    const loaded = Object.keys(createRequire(import.meta.url).cache);
    console.log(JSON.stringify({ outcome, workflowId, loaded }));
  `;
    await writeFile(join(project, 'release.js'), program);
    const [serverId, siteId] = [fresh('s'), fresh('a')];
    const env = { PATH: process.env.PATH, ...temporalEnv(world) };
    const { stdout, stderr } = await run(process.execPath, ['release.js', serverId, siteId], { cwd: project, env });
    assert.equal(stderr, '');
    const { outcome, workflowId, loaded } = JSON.parse(stdout) as Record<string, string> & { loaded: string[] };
    assert.deepEqual([outcome, workflowId], ['completed', `backup-then-deploy:${serverId}:release-7`]);
    assert.ok(loaded.some((name) => name.includes('@temporalio/client')));
    assert.deepEqual(
      loaded.filter((name) => /@temporalio\/(worker|core-bridge|testing)|fastify|pino/.test(name)),
      [],
    );
  },
);

test('the command line of the packed library lists runs', WITH_BUILD, async () => {
  const env = { PATH: process.env.PATH, ...temporalEnv(world) };
  const cli = join(project, 'node_modules/belay-deploy/dist/cli.js');
  const { stdout } = await run(process.execPath, [cli, 'list', '--json'], { cwd: project, env });
  assert.ok(Array.isArray((JSON.parse(stdout) as { runs: unknown }).runs));
});

test('a worker of the packed library polls with a key file and as a version', WITH_BUILD, async () => {
  const { process: worker, output } = start(
    ['worker'],
    {
      ...temporalEnv(world),
      BELAY_API_URL: world.sandbox.url,
      BELAY_API_TOKEN: TOKEN,
      BELAY_TASK_QUEUE: fresh('queue'),
      BELAY_CODEC_KEYS_FILE: await newKeyFile(),
      TEMPORAL_DEPLOYMENT_NAME: fresh('deployment'),
      TEMPORAL_WORKER_BUILD_ID: '1',
    },
    join(project, 'node_modules/belay-deploy/dist/cli.js'),
  );
  await eventually(
    'the worker polls, or has ended',
    () => output.stderr.includes('"polling"') || worker.exitCode !== null,
  );
  assert.equal(worker.exitCode, null, output.stderr);
});
