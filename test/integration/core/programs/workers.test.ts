/** Workers as processes: one is killed with runs in flight, the next one takes them over and stops cleanly. */
import '../../../support/timing/use-patient.ts';
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { Client } from '@temporalio/client';
import { connect, type Belay, type Run } from '../../../../src/starter.ts';
import { startSandbox, type Sandbox } from '../../../../src/sandbox/server.ts';
import { atEnd } from '../../../support/at-end.ts';
import { connectTo } from '../../../support/connect.ts';
import { eventually } from '../../../support/eventually.ts';
import { began, posts, reads } from '../../../support/journal.ts';
import { startWorkerProcess, type Started } from '../../../support/processes.ts';
import { FAILED, siteAfter } from '../../../support/sites.ts';
import { newPlace } from '../../../support/shared-temporal.ts';
import { allHistories, assertNowhere } from '../../../support/token.ts';
import { fresh, temporalEnv, TOKEN } from '../../../support/world.ts';

const PACE = { intervalMs: 500, tries: 2_000 };

let sandbox: Sandbox;
let belay: Belay;
let client: Client;
let env: Record<string, string>;
let worker: Started;

before(async () => {
  const place = await newPlace();
  sandbox = await startSandbox({
    token: TOKEN,
    defaults: { backup: { ends: 'never' }, deployment: { ends: 'never' } },
  });
  atEnd(() => sandbox.close());
  env = { ...temporalEnv(place), BELAY_API_URL: sandbox.url, BELAY_API_TOKEN: TOKEN };
  const connection = await connectTo(place.address);
  atEnd(() => connection.close());
  client = new Client({ connection, namespace: place.namespace });
  belay = await connect({ connection, namespace: place.namespace });
  worker = await startWorkerProcess(env);
});

// Each test goes on where the one before it ended.
describe('a worker process', { concurrency: 1 }, () => {
  const serverId = fresh('s');
  let siteId: string;
  let backingUp: Run;
  let deploying: Run;
  const deployPath = () => `/v1/sites/${siteId}/deploy`;

  test('that is killed loses no run: the next one continues a wait, and sends no request again', async () => {
    siteId = siteAfter(sandbox, FAILED, { ends: 'never' });
    backingUp = await belay.start({ serverId, siteIds: [], backup: PACE });
    // The service begins the deployment, and the worker dies before it has the answer.
    sandbox.fault({ route: 'deploy', target: siteId, effect: true, answer: { kind: 'none' } });
    deploying = await belay.start({ siteIds: [siteId], deploy: PACE });
    const backup = await eventually('the backup', () => began(sandbox, 'backup', serverId)[0]?.began?.id);
    // A read proves that the backup's request is recorded. Otherwise another backup would be made.
    await eventually('a read of the backup', () => reads(sandbox, `/v1/backups/${backup}`).length > 0);
    await eventually('the request to deploy', () => posts(sandbox, deployPath()).length === 1);
    worker.process.kill('SIGKILL');
    await worker.finished;
    worker = await startWorkerProcess(env);
    const [before, path] = [reads(sandbox, `/v1/backups/${backup}`).length, `/v1/sites/${siteId}/deployments/latest`];
    await eventually('reads by the next worker', () => reads(sandbox, `/v1/backups/${backup}`).length > before);
    const since = reads(sandbox, path).length;
    await eventually('reads of the site', () => reads(sandbox, path).length > since);
    sandbox.finish({ server: serverId }, 'completed');
    sandbox.finish({ site: siteId }, 'completed');
    assert.equal((await backingUp.result()).outcome, 'completed');
    const { outcome, deployments } = await deploying.result();
    assert.deepEqual([outcome, deployments[0]?.trigger.ambiguous], ['completed', true]);
    assert.deepEqual([began(sandbox, 'backup', serverId).length, posts(sandbox, deployPath()).length], [1, 1]);
  });

  test('that gets SIGTERM finishes its request and exits with 0, and no token is in its log or a history', async () => {
    const site = fresh('a');
    const run = await belay.start({ siteIds: [site], deploy: PACE });
    await eventually('the deployment', () => began(sandbox, 'deployment', site).length === 1);
    worker.process.kill('SIGTERM');
    const { code, stderr } = await worker.finished;
    assert.equal(code, 0, stderr);
    worker = await startWorkerProcess(env);
    sandbox.finish({ site }, 'completed');
    assert.equal((await run.result()).outcome, 'completed');
    assert.equal(posts(sandbox, `/v1/sites/${site}/deploy`).length, 1);
    assertNowhere(TOKEN, { ...(await allHistories(client)), log: stderr + worker.output.stderr }, 'polling');
  });
});
