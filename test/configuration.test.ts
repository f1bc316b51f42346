import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ConfigError } from '../src/config.ts';
import { readConfiguration } from '../src/configuration.ts';
import { startSandbox } from '../src/sandbox/server.ts';
import { atEnd } from './support/at-end.ts';
import { run, startWorkerProcess } from './support/processes.ts';
import { startTemporal, tempFolder } from './support/temporal.ts';
import { TOKEN } from './support/world.ts';

async function fileWith(text: string): Promise<string> {
  const path = join(await tempFolder(), 'belay.yaml');
  writeFileSync(path, text);
  return path;
}

async function problemOf(text: string): Promise<string> {
  const path = await fileWith(text);
  const error = await readConfiguration({ path, isNamed: true }).then(
    () => null,
    (it: unknown) => it,
  );
  assert.ok(error instanceof ConfigError, text);
  return error.message.replace(path, 'FILE');
}

test('a missing or empty belay.yaml is none; one that was named has to be there', async () => {
  const path = join(await tempFolder(), 'belay.yaml');
  assert.deepEqual(await readConfiguration({ path, isNamed: false }), {});
  assert.deepEqual(await readConfiguration({ path: await fileWith('# nothing\n'), isNamed: true }), {});
  await assert.rejects(readConfiguration({ path, isNamed: true }), /cannot be read \(ENOENT\): correct BELAY_CONFIG/);
});

test('what docs/configuration.md shows is read', async () => {
  const text = /```yaml\n([^]*?)```/.exec(readFileSync(new URL('../docs/configuration.md', import.meta.url), 'utf8'));
  assert.deepEqual(await readConfiguration({ path: await fileWith(text?.[1] ?? ''), isNamed: true }), {
    statuses: { deployment: { cancelled: 'failed' }, backup: { expired: 'failed' } },
  });
});

test('a mistake is told with file, line, key and remedy', async () => {
  assert.equal(
    await problemOf('statuses:\n  deployment:\n    done: completed\n    cancelled: faild\n'),
    'FILE:4: statuses.deployment.cancelled: write one of completed, failed',
  );
  assert.match(await problemOf('\nstatus:\n  x: y\n'), /^FILE:2: status: there is no such key; see docs/);
  assert.match(await problemOf('statuses:\n  site: {}\n'), /^FILE:2: statuses\.site: there is no such key/);
  assert.match(await problemOf('statuses: [a]\n'), /^FILE:1: statuses: /);
  assert.match(await problemOf('a: 1\nb: [\n'), /^FILE:\d: /);
  assert.match(await problemOf('statuses:\n  backup: {}\nstatuses: {}\n'), /^FILE:3: /);
});

test('worker, dev and doctor with a mistake in the file exit 2; nothing is started', async () => {
  const BELAY_CONFIG = await fileWith('statuses: 1\n');
  const env = { BELAY_CONFIG, BELAY_API_URL: 'https://host', BELAY_API_TOKEN: TOKEN, BELAY_HOME: await tempFolder() };
  for (const command of ['worker', 'dev', 'doctor']) {
    const { code, stdout, stderr } = await run([command], env);
    assert.equal(code, 2);
    assert.ok((stdout + stderr).includes(`${BELAY_CONFIG}:1: statuses: `));
  }
});

test('a word that is mapped ends a run with its meaning', async () => {
  const sandbox = await startSandbox({ token: TOKEN });
  atEnd(() => sandbox.close());
  const { address: TEMPORAL_ADDRESS } = await startTemporal();
  const BELAY_CONFIG = await fileWith('statuses: { deployment: { Cancelled: failed } }\n');
  await startWorkerProcess({ TEMPORAL_ADDRESS, BELAY_CONFIG, BELAY_API_URL: sandbox.url, BELAY_API_TOKEN: TOKEN });
  sandbox.script({ site: 'a1' }, { durationMs: 500, ends: 'CANCELLED' });
  const args = ['deploy', '--site', 'a1', '--deploy-interval', '300ms', '--json'];
  const { code, json } = await run(args, { TEMPORAL_ADDRESS });
  assert.deepEqual([code, json().outcome, json().deployments[0]?.lastStatus], [1, 'failed', 'CANCELLED']);
});
