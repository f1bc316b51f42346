import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { Client } from '@temporalio/client';
import { startSandbox, type Sandbox } from '../../../src/sandbox/server.ts';
import { atEnd } from '../../support/at-end.ts';
import { DEPLOY_PACE } from '../../support/command-line.ts';
import { connectTo } from '../../support/connect.ts';
import { eventually } from '../../support/eventually.ts';
import { runInProcess } from '../../support/in-process.ts';
import { posts } from '../../support/journal.ts';
import { start, startWorkerProcess, type Started } from '../../support/processes.ts';
import { FAILED } from '../../support/sites.ts';
import { newPlace } from '../../support/shared-temporal.ts';
import { tempFolder } from '../../support/temporal.ts';
import { allHistories, assertNowhere } from '../../support/token.ts';
import { temporalEnv, TOKEN } from '../../support/world.ts';

const [BEFORE, OURS] = ['aaaaaaa0000', '3f2c1ab0d9e8f7a6'];
const SECRET = 'canary-of-a-page-5f0c2b';
const DOWN = { kind: 'status', code: 503 } as const;

let sandbox: Sandbox;
let client: Client;
let worker: Started;
let env: Record<string, string>;
let workerEnv: Record<string, string>;

before(async () => {
  const folder = await tempFolder();
  sandbox = await startSandbox({ token: TOKEN, defaults: { deployment: { durationMs: 0 } } });
  atEnd(() => sandbox.close());
  const [file, secretFile] = [join(folder, 'workers.yaml'), join(folder, 'secret')];
  await writeFile(secretFile, `${SECRET}\n`);
  await writeFile(file, configurationOf(secretFile));
  const place = await newPlace();
  const connection = await connectTo(place.address);
  atEnd(() => connection.close());
  client = new Client({ connection, namespace: place.namespace });
  env = temporalEnv(place);
  workerEnv = { ...env, BELAY_API_URL: sandbox.url, BELAY_API_TOKEN: TOKEN, BELAY_CONFIG: file };
  worker = await startWorkerProcess(workerEnv);
});

const configurationOf = (secretFile: string) => `
sites:
  '34': { url: '${sandbox.url}/sites/34', check: answers, private: true }
  '35': { url: '${sandbox.url}/sites/35', private: true }
  '36': { url: 'https://169.254.169.254/latest', check: answers, private: true }
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

describe('the check of a site', () => {
  test('goes on after its worker was killed, with one request and no secret in any history', async () => {
    const ours = { commit: OURS };
    sandbox.script({ site: '34' }, { commit: BEFORE }, FAILED, { ...ours, pageLagMs: 86_400_000 }, ours);
    sandbox.act({ site: '34' });
    sandbox.act({ site: '34' });
    const { finished } = start(['deploy', '--site', '34', '--commit', OURS, ...DEPLOY_PACE, '--json'], env);
    await eventually('reads of the check', () => visits() > 3);
    worker.process.kill('SIGKILL');
    await worker.finished;
    const seen = visits();
    worker = await startWorkerProcess(workerEnv);
    await eventually('reads by the next worker', () => visits() > seen);
    // What a user does about a page that does not change: deploy once more.
    sandbox.act({ site: '34' });
    const { code, json } = await finished;
    const [deployment] = json().deployments;
    assert.deepEqual([code, deployment?.check?.outcome, deployment?.check?.baseline?.commit], [0, 'passed', BEFORE]);
    assert.equal(posts(sandbox, '/v1/sites/34/deploy').length, 1);
    assertNowhere(SECRET, { ...(await allHistories(client)), log: worker.output.stderr }, 'checkSite');
  });
});

describe('belay check', () => {
  const check = async (...args: string[]) => {
    const { code, stdout, stderr } = await runInProcess(['check', ...args], workerEnv);
    return { code, text: stdout + stderr };
  };

  test('reads a site once, and names what it shows', async () => {
    const { code, text } = await check('--site', '34', '--commit', OURS.slice(0, 7));
    assert.equal(code, 0, text);
    assert.match(text, /answer: status 200, commit 3f2c1ab0d9e8f7a6\ngood: every expectation is met/);
  });

  test('exits 1 with the expectation that is not met', async () => {
    const other = await check('--site', '34', '--commit', 'bbbbbbb');
    assert.deepEqual([other.code, /bad: it does not show commit bbbbbbb/.test(other.text)], [1, true], other.text);
    sandbox.fault({ route: 'page', target: '34', answer: DOWN, times: 1 });
    const down = await check('--site', '34');
    assert.deepEqual([down.code, /bad: status 503, expected 2xx/.test(down.text)], [1, true], down.text);
  });

  test('exits 4 for an address that no check may reach', async () => {
    const { code, text } = await check('--site', '36');
    assert.deepEqual([code, /nothing: .*169\.254\.169\.254/.test(text)], [4, true], text);
  });

  test('exits 2 for a site without a check', async () => {
    const { code, text } = await check('--site', '35');
    assert.deepEqual([code, /site 35 has no check/.test(text)], [2, true], text);
  });
});
