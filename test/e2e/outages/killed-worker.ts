/** What a worker leaves behind that is killed, and what the next one takes over: a check, runs, and their commands. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Client } from '@temporalio/client';
import { startSandbox, type Sandbox } from '../../../src/sandbox/server.ts';
import { atEnd } from '../../support/at-end.ts';
import { DEPLOY_PACE } from '../../support/command-line.ts';
import { connectTo } from '../../support/connect.ts';
import { eventually } from '../../support/eventually.ts';
import { runInProcess } from '../../support/in-process.ts';
import { posts } from '../../support/journal.ts';
import { start, startWorkerProcess, type Started } from '../../support/processes.ts';
import { newPlace } from '../../support/shared-temporal.ts';
import { FAILED } from '../../support/sites.ts';
import { tempFolder } from '../../support/temporal.ts';
import { allHistories, assertNowhere } from '../../support/token.ts';
import { fresh, temporalEnv, TOKEN } from '../../support/world.ts';

const [BEFORE, OURS] = ['aaaaaaa0000', '3f2c1ab0d9e8f7a6'];
const SECRET = 'canary-of-a-page-5f0c2b';
const [FROZEN, FREE, CHECKED] = ['34', '35', '36'];

const FREEZES = `freezes:
  stock: { from: 2020-01-01T00:00, to: 2100-01-01T00:00, for: { sites: [${FROZEN}] }, reason: inventory }
`;

let sandbox: Sandbox;
let client: Client;
let env: Record<string, string>;
let configFile: string;
let newWorker: () => Promise<Started>;
/** Writes the configuration of the workers. */
let configure: (freezes: string) => Promise<void>;

before(async () => {
  const folder = await tempFolder();
  const defaults = { backup: { durationMs: 3_000 }, deployment: { durationMs: 0 } };
  sandbox = await startSandbox({ token: TOKEN, defaults });
  atEnd(() => sandbox.close());
  const secretFile = join(folder, 'secret');
  configFile = join(folder, 'workers.yaml');
  await writeFile(secretFile, `${SECRET}\n`);
  configure = (freezes) => writeFile(configFile, freezes + checks(secretFile));
  await configure(FREEZES);
  const place = await newPlace();
  const connection = await connectTo(place.address);
  atEnd(() => connection.close());
  client = new Client({ connection, namespace: place.namespace });
  env = temporalEnv(place);
  const service = { BELAY_API_URL: sandbox.url, BELAY_API_TOKEN: TOKEN };
  newWorker = () => startWorkerProcess({ ...env, ...service, BELAY_CONFIG: configFile });
});

const checks = (secretFile: string) => `
sites:
  '${CHECKED}': { url: '${sandbox.url}/sites/${CHECKED}', check: answers, private: true }
checks:
  answers:
    path: /healthz
    json: { status: ok }
    commit: { json: commit }
    requestHeaders: { authorization: { file: '${secretFile}' } }
    interval: 1s
    tries: 600
`;

const visits = () => sandbox.journal.filter(({ by }) => by === 'visitor').length;

async function deploy(siteId: string) {
  sandbox.script({ site: siteId }, { durationMs: 500 });
  const { code, json } = await runInProcess(['deploy', '--site', siteId, ...DEPLOY_PACE, '--json'], env);
  const { outcome, error } = json();
  return [code, outcome, error?.type ?? null, posts(sandbox, `/v1/sites/${siteId}/deploy`).length];
}

// Each test goes on where the one before it ended.
describe('a worker that is killed', { concurrency: 1 }, () => {
  let worker: Started;
  let checked: string;
  let waiting: Started;
  let seen: number;
  // Otherwise it polls while other files of this process go on.
  after(() => worker.process.kill('SIGTERM'));

  test('its freezes hold for a starter without a configuration, and the next change of the file is in force at once', async () => {
    worker = await newWorker();
    assert.deepEqual(await deploy(FROZEN), [5, 'not_started', 'Frozen', 0]);
    assert.deepEqual(await deploy(FREE), [0, 'completed', null, 1]);
    await configure(`${FREEZES}  again: {}\n`);
    assert.deepEqual(await deploy(FROZEN), [5, 'not_started', 'Frozen', 0]);
    assert.match(worker.output.stderr, /the policy stays as it was.*workers\.yaml:3: freezes\.again/);
    await configure('# thawed\n');
    assert.deepEqual(await deploy(FROZEN), [0, 'completed', null, 1]);
  });

  test('status reports that no worker answers for a running run', async () => {
    const ours = { commit: OURS };
    sandbox.script({ site: CHECKED }, { commit: BEFORE }, FAILED, { ...ours, pageLagMs: 86_400_000 }, ours);
    sandbox.act({ site: CHECKED });
    sandbox.act({ site: CHECKED });
    const args = ['deploy', '--site', CHECKED, '--commit', OURS, ...DEPLOY_PACE, '--detach', '--json'];
    checked = String((await runInProcess(args, env)).json().workflowId);
    await eventually('reads of the check', () => visits() > 3);
    worker.process.kill('SIGKILL');
    await worker.finished;
    seen = visits();
    const status = await runInProcess(['status', checked], env);
    assert.equal(status.code, 0);
    assert.match(status.stdout, /in progress: deploy\n[^]*now: no worker answers for the run/);
  });

  test('a waiting command reports that no worker has started its run, and keeps waiting', async () => {
    waiting = start(['backup', '--server', fresh('s'), '--backup-interval', '1s', '--json'], env);
    // The server may have given its first task to the poll that the dead worker left behind.
    const word = /no worker (has started the run yet|answers for the run)/;
    await eventually('the word', () => word.test(waiting.output.stderr));
    worker = await newWorker();
    const { code, stderr } = await waiting.finished;
    assert.equal(code, 0, stderr);
  });

  test('its check of a site goes on, with one request and no secret in any history', async () => {
    await eventually('reads by the next worker', () => visits() > seen);
    // What a user does about a page that does not change: deploy once more.
    sandbox.act({ site: CHECKED });
    const { code, json } = await runInProcess(['wait', checked, '--json'], env);
    const [deployment] = json().deployments;
    assert.deepEqual([code, deployment?.check?.outcome, deployment?.check?.baseline?.commit], [0, 'passed', BEFORE]);
    assert.equal(posts(sandbox, `/v1/sites/${CHECKED}/deploy`).length, 1);
    assertNowhere(SECRET, { ...(await allHistories(client)), log: worker.output.stderr }, 'checkSite');
  });
});
