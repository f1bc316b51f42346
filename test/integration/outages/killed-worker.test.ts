/** What a worker leaves behind that is killed, and what the next one takes over: a check, runs, and their commands. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { Client } from '@temporalio/client';
import type { Sandbox } from '../../../src/sandbox/server.ts';
import { DEPLOY_PACE } from '../../support/command-line.ts';
import { eventually } from '../../support/eventually.ts';
import { runInProcess, startInProcess } from '../../support/in-process.ts';
import { began, posts, reads } from '../../support/journal.ts';
import { startWorkerProcess, type Started } from '../../support/processes.ts';
import { FAILED } from '../../support/sites.ts';
import { allHistories, assertNowhere } from '../../support/token.ts';
import { fresh, temporalEnv, TOKEN } from '../../support/world.ts';
import { CHECKED, FREE, FREEZES, FROZEN, SECRET, startOwnWorker, type OwnWorker } from './own-worker.ts';

const [BEFORE, OURS] = ['aaaaaaa0000', '3f2c1ab0d9e8f7a6'];

let own: OwnWorker;
let sandbox: Sandbox;
/** Of those who only start and wait. */
let env: Record<string, string>;

before(async () => {
  own = await startOwnWorker();
  ({ sandbox } = own);
  env = temporalEnv(own.place);
  await writeFile(own.tokenFile, TOKEN);
  await eventually('the worker', () => own.worker.output.stderr.includes('"polling"'));
});

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
  let seen: number;
  // Otherwise it polls while other files of this process go on.
  after(() => worker.process.kill('SIGTERM'));

  test('its freezes hold for a starter without a configuration, and the next change of the file is in force at once', async () => {
    ({ worker } = own);
    assert.deepEqual(await deploy(FROZEN), [5, 'not_started', 'Frozen', 0]);
    assert.deepEqual(await deploy(FREE), [0, 'completed', null, 1]);
    await own.configure(`${FREEZES}  again: {}\n`);
    assert.deepEqual(await deploy(FROZEN), [5, 'not_started', 'Frozen', 0]);
    assert.match(worker.output.stderr, /the policy stays as it was.*workers\.yaml:3: freezes\.again/);
    await own.configure('# thawed\n');
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
    const serverId = 'left-behind';
    sandbox.script({ server: serverId }, { ends: 'never', words: ['running'] });
    const pace = ['--backup-interval', '1s', '--backup-tries', '2000', '--detach', '--json'];
    const backedUp = String((await runInProcess(['backup', '--server', serverId, ...pace], env)).json().workflowId);
    const made = await eventually('the backup', () => began(sandbox, 'backup', serverId)[0]);
    await eventually('its reads', () => reads(sandbox, `/v1/backups/${made.began?.id}`).length > 2);
    worker.process.kill('SIGKILL');
    await worker.finished;
    // Temporal keeps what was accepted and read last.
    const left = await runInProcess(['status', backedUp], env);
    assert.match(
      left.stdout,
      /now: no worker answers for the run[^\n]*; before: backup of left-behind: try \d+ of 2000, last status "/,
    );
    assert.equal((await runInProcess(['status', backedUp, '--json'], env)).json().backup?.backupId, made.began?.id);
    sandbox.finish({ server: serverId }, 'completed');
    seen = visits();
    const status = await runInProcess(['status', checked], env);
    assert.equal(status.code, 0);
    assert.match(status.stdout, /in progress: deploy\n[^]*now: no worker answers for the run/);
    const { stdout } = await runInProcess(['doctor'], env);
    assert.match(stdout, /^failed {5}worker: no worker answers for \S+, although one polled[^\n]+\n +start one with /m);
  });

  test('a waiting command reports that no worker has started its run, and keeps waiting', async () => {
    const args = ['backup', '--server', fresh('s'), '--backup-interval', '1s', '--json'];
    const waiting = startInProcess(args, env);
    // The server may have given its first task to the poll that the dead worker left behind.
    const word = /no worker (has started the run yet|answers for the run)/;
    await eventually('the word', () => word.test(waiting.output.stderr));
    worker = await startWorkerProcess(own.env);
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
    const client = new Client({ connection: own.connection, namespace: own.place.namespace });
    assertNowhere(SECRET, { ...(await allHistories(client, 'checkSite')), log: worker.output.stderr }, 'checkSite');
  });
});
