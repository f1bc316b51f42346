import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { ApplicationFailure, WorkflowFailedError } from '@temporalio/client';
import { appTarget, siteTarget } from '../../../src/contract/target.ts';
import { lockIdOf } from '../../../src/contract/ids.ts';
import { runResult } from '../../../tools/schemas/run-result.ts';
import { DEPLOY_PACE, PACE as RUN_PACE } from '../../support/command-line.ts';
import { eventually } from '../../support/eventually.ts';
import { runInProcess } from '../../support/in-process.ts';
import { posts, reads } from '../../support/journal.ts';
import type { Run } from '../../../src/starter.ts';
import { resultOf } from '../../support/outcome.ts';
import {
  addWorker,
  belayOn,
  fresh,
  startTestStack,
  TASK_QUEUE,
  temporalEnv,
  type TestStack,
} from '../../support/world.ts';

const PATHS = { deploy: '/v1/apps/{id}/deploy', latest: '/v1/apps/{id}/deployments/latest' };
const CONFIGURATION = { api: { app: PATHS } };
const PACE = { intervalMs: 200, tries: 2_000 };

let world: TestStack;
before(async () => {
  const quick = { durationMs: 500 };
  world = await startTestStack({ defaults: { backup: quick, deployment: quick }, configuration: CONFIGURATION });
});

const belay = (...args: string[]) => runInProcess(args, temporalEnv(world));
const deploysOf = (app: string) => posts(world.sandbox, `/v1/apps/${app}/deploy`).length;

const partOf = async (run: Run) => (await run.status()).result.deployments[0];

describe('apps', { concurrency: 4 }, () => {
  test('a run deploys apps and sites in the order of the command line, and reports both', async () => {
    const [server, app, site] = [fresh('s'), fresh('b'), fresh('a')];
    const targets = ['--app', app, '--site', site, '--app', site];
    const { code, json, stderr } = await belay('run', '--server', server, ...targets, ...RUN_PACE, '--json');
    assert.equal(code, 0, stderr);
    const result = runResult.parse(json());
    assert.deepEqual(
      result.deployments.map(({ target, siteId, outcome }) => [target, siteId, outcome]),
      [
        [appTarget(app), null, 'completed'],
        [siteTarget(site), site, 'completed'],
        [appTarget(site), null, 'completed'],
      ],
    );
    for (const { startedAt, acceptedAt, endedAt } of [result.backup!, ...result.deployments]) {
      const times = [startedAt, acceptedAt, endedAt];
      assert.ok(acceptedAt !== null);
      assert.deepEqual(times, [...times].sort(), 'each step follows the one before');
    }
    const sent = world.sandbox.journal.map(({ request }) => request).filter((it) => /deploy$/.test(it));
    const own = sent.filter((it) => [app, site].some((id) => it.includes(`/${id}/`)));
    assert.deepEqual(own, [
      `POST /v1/apps/${app}/deploy`,
      `POST /v1/sites/${site}/deploy`,
      `POST /v1/apps/${site}/deploy`,
    ]);
  });

  test('a failed app fails the run, and its evidence is that of a site', async () => {
    const app = fresh('b');
    world.sandbox.script({ app }, { ends: 'never' });
    const run = await world.belay.start({ targets: [appTarget(app)], deploy: PACE }, { key: 'k' });
    await eventually('a status in progress', async () => (await partOf(run))?.inProgressAt);
    world.sandbox.finish({ app }, 'failed');
    const result = await resultOf(run);
    assert.equal(result.workflowId, `deploy:app:${app}:k`);
    assert.deepEqual([result.outcome, result.error?.type], ['failed', 'DeploymentFailed']);
    assert.match(result.error?.message ?? '', new RegExp(`the deployment of app ${app} failed`));
    const { evidence, acceptedAt, inProgressAt } = result.deployments[0]!;
    assert.equal(evidence, 'transition');
    assert.ok(acceptedAt !== null && inProgressAt !== null);
  });

  test('an app has a lock of its own, whatever the id of the site', async () => {
    const id = fresh('x');
    world.sandbox.script({ app: id }, { ends: 'never' });
    const holder = await world.belay.start({ targets: [appTarget(id)], deploy: PACE });
    await eventually('the app is being deployed', () => deploysOf(id) === 1);
    const second = await world.belay.start({ targets: [appTarget(id)], deploy: PACE, ifBusy: 'fail' });
    const busy = await resultOf(second);
    assert.deepEqual([busy.outcome, busy.error?.type], ['not_started', 'Busy']);
    assert.match(busy.error?.message ?? '', new RegExp(`deploy-app:${id}`));
    const site = await resultOf(await world.belay.start({ siteIds: [id], deploy: PACE, ifBusy: 'fail' }));
    assert.equal(site.outcome, 'completed');
    world.sandbox.finish({ app: id }, 'completed');
    assert.equal((await resultOf(holder)).outcome, 'completed');
    assert.equal(deploysOf(id), 1);
  });

  test('the operation of an app fails under any other id, and without a target', async () => {
    const app = fresh('b');
    for (const [workflowId, input] of [
      [`deploy-site:${app}`, { target: appTarget(app), waiters: [] }],
      [fresh('by-hand'), {}],
    ] as const) {
      const execution = world.client.workflow.execute('deploySite', {
        workflowId,
        taskQueue: TASK_QUEUE,
        args: [input],
      });
      await assert.rejects(execution, (error) => {
        assert.ok(error instanceof WorkflowFailedError && error.cause instanceof ApplicationFailure);
        return error.cause.type === 'WrongWorkflowId';
      });
    }
    assert.equal(lockIdOf(appTarget(app)), `deploy-app:${app}`);
    assert.equal(deploysOf(app), 0);
  });

  test('a list finds the runs of an app, and not those of the site with its id', async () => {
    const id = fresh('x');
    for (const targets of [[appTarget(id)], [siteTarget(id)]])
      await resultOf(await world.belay.start({ targets, deploy: PACE }));
    const found = await eventually('both runs in the list', async () => {
      const [apps, sites] = await Promise.all([world.belay.list({ appId: id }), world.belay.list({ siteId: id })]);
      return apps.length > 0 && sites.length > 0 && [...apps, ...sites];
    });
    assert.deepEqual(
      found.map(({ deployments }) => deployments.map(({ target }) => target)),
      [[appTarget(id)], [siteTarget(id)]],
    );
  });

  test('an app is watched under an id of its own', async () => {
    const app = fresh('b');
    world.sandbox.script({ app }, { ends: 'never' });
    world.sandbox.act({ app });
    const watching = belay('watch', '--app', app, '--key', 'k', ...DEPLOY_PACE, '--json');
    await eventually('a read', () => reads(world.sandbox, `/v1/apps/${app}/deployments/latest`).length > 0);
    world.sandbox.finish({ app }, 'completed');
    const { code, json } = await watching;
    assert.deepEqual([code, json().workflowId], [0, `watch:app:${app}:k`]);
    assert.equal(deploysOf(app), 0);
  });
});

test('without the paths of apps, a run exits 2 with the remedy before any request', async () => {
  const taskQueue = fresh('without-paths-');
  await addWorker(world, taskQueue, world.sandbox.url);
  await (await belayOn(world, taskQueue)).close();
  const [server, app, site] = [fresh('s'), fresh('b'), fresh('a')];
  const args = ['run', '--server', server, '--site', site, '--app', app, '--json'];
  const { code, json } = await runInProcess(args, { ...temporalEnv(world), BELAY_TASK_QUEUE: taskQueue });
  assert.equal(code, 2);
  const { error, deployments } = json();
  assert.equal(error?.type, 'Usage');
  assert.match(error?.message ?? '', /api\.app\.deploy and api\.app\.latest to the worker's belay\.yaml/);
  assert.deepEqual(
    deployments.map(({ outcome, polls }) => [outcome, polls]),
    [
      ['not_started', 0],
      ['not_started', 0],
    ],
  );
  const paths = [server, app, site].map((id) => `/${id}/`);
  assert.deepEqual(
    world.sandbox.journal.filter(({ request }) => paths.some((path) => request.includes(path))),
    [],
  );
});
