import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { startSandbox, type Sandbox } from '../../../src/sandbox/server.ts';
import { atEnd } from '../../support/at-end.ts';
import { DEPLOY_PACE } from '../../support/command-line.ts';
import { runInProcess } from '../../support/in-process.ts';
import { posts } from '../../support/journal.ts';
import { startWorkerProcess, type Started } from '../../support/processes.ts';
import { newPlace } from '../../support/shared-temporal.ts';
import { temporalEnv, TOKEN } from '../../support/world.ts';

const FROZEN = `freezes:
  stock: { from: 2020-01-01T00:00, to: 2100-01-01T00:00, for: { sites: [34] }, reason: inventory }
`;

let worker: Started;
let sandbox: Sandbox;
let configFile: string;
let env: Record<string, string>;

before(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'belay-test-'));
  atEnd(() => rm(folder, { recursive: true, force: true }));
  configFile = join(folder, 'workers.yaml');
  await writeFile(configFile, FROZEN);
  sandbox = await startSandbox({ token: TOKEN });
  atEnd(() => sandbox.close());
  env = temporalEnv(await newPlace());
  const service = { BELAY_API_URL: sandbox.url, BELAY_API_TOKEN: TOKEN };
  worker = await startWorkerProcess({ ...env, ...service, BELAY_CONFIG: configFile });
});

async function deploy(siteId: string) {
  const { code, json } = await runInProcess(['deploy', '--site', siteId, ...DEPLOY_PACE, '--json'], env);
  const { outcome, error } = json();
  return [code, outcome, error?.type ?? null, posts(sandbox, `/v1/sites/${siteId}/deploy`).length];
}

describe('the freezes of a worker', () => {
  test('hold for a starter without a configuration, and the next change of the file is in force at once', async () => {
    assert.deepEqual(await deploy('34'), [5, 'not_started', 'Frozen', 0]);
    assert.deepEqual(await deploy('35'), [0, 'completed', null, 1]);
    await writeFile(configFile, `${FROZEN}  again: {}\n`);
    assert.deepEqual(await deploy('34'), [5, 'not_started', 'Frozen', 0]);
    assert.match(worker.output.stderr, /the policy stays as it was.*workers\.yaml:3: freezes\.again/);
    await writeFile(configFile, '# thawed\n');
    assert.deepEqual(await deploy('34'), [0, 'completed', null, 1]);
  });
});
