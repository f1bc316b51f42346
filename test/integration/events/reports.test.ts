/** Reports of runs on a real Temporal server: what a repository and a monitor see, in the order in which they see it. */
import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { before, describe, test } from 'node:test';
import type { Configuration } from '../../../src/config/file/file-schema.ts';
import { reportId } from '../../../src/contract/ids.ts';
import type { Belay } from '../../../src/starter.ts';
import { eventually } from '../../support/eventually.ts';
import { posts } from '../../support/journal.ts';
import { literalService, type LiteralService } from '../../support/literal.ts';
import { resultOf } from '../../support/outcome.ts';
import { secretFile } from '../../support/receiver.ts';
import { allHistories, assertNowhere } from '../../support/token.ts';
import { workerLog } from '../../support/runtime.ts';
import { addWorker, belayOn, fresh } from '../../support/world.ts';
import { CANARY, eventStack, type EventStack } from './shared.ts';

type RunHandle = Awaited<ReturnType<Belay['start']>>;

const COMMIT = 'ab'.repeat(20);
const DEPLOY = { intervalMs: 1_000, tries: 1_000 };

/** What the repository shows of each site, in order. */
const statuses: { context: string; state: string; description: string }[] = [];
/** The calls to the monitor, without its address. */
const beats: { call: string; runId: string | null }[] = [];

let world: EventStack;
let place: LiteralService;
let notify: NonNullable<Configuration['notify']>;
let belay: Belay;

before(async () => {
  world = await eventStack();
  // It repeats the token and the address that it was given, in an error as well as in an answer.
  place = await literalService((request, response) => {
    void text(request).then((body) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://place');
      const echo = JSON.stringify({ ...request.headers, message: `${request.url} ${CANARY}` });
      if (pathname.startsWith('/refuses/')) return void response.writeHead(422).end(echo);
      if (pathname.includes('/statuses/')) statuses.push(JSON.parse(body) as (typeof statuses)[number]);
      else beats.push({ call: pathname.split(CANARY)[1] ?? '', runId: searchParams.get('rid') });
      response.writeHead(201).end(echo);
    });
  });
  const token = await secretFile(CANARY);
  const shop = { kind: 'github' as const, repository: 'acme/shop', token };
  notify = {
    heartbeats: { night: { kind: 'healthchecks', ...(await secretFile(`${place.url}/${CANARY}`)) } },
    reports: {
      shop: { ...shop, url: place.url },
      strict: { ...shop, url: `${place.url}/refuses`, for: { sites: ['refused-site'] } },
    },
  };
  const queue = fresh('queue');
  await addWorker(world, queue, world.sandbox.url, { notify });
  belay = await belayOn(world, queue);
});

const deploy = (siteId: string, on = belay): Promise<RunHandle> =>
  on.start({ siteIds: [siteId], commit: COMMIT, deploy: DEPLOY, heartbeat: 'night' }, { type: 'deployOnly' });

const seen = (siteId: string) => statuses.filter(({ context }) => context === `belay/${siteId}`);
/** A run may begin so slowly that the place is told `begins`, too, which has the state of `in progress` there. */
const statesOf = (siteId: string): string[] =>
  seen(siteId).flatMap(({ state }, index, all) => (state === all[index - 1]?.state ? [] : [state]));
const callsOf = (runId: string) => beats.filter((it) => it.runId === runId).map(({ call }) => call);

const runIdOf = async ({ workflowId }: RunHandle) =>
  (await world.client.workflow.getHandle(workflowId).describe()).runId;
/** The end of the workflow that reports. */
const told = async (run: RunHandle): Promise<unknown> =>
  world.client.workflow.getHandle(reportId(run.workflowId, await runIdOf(run))).result();

/** A deployment that goes on until a test ends it. */
async function inProgress(on = belay) {
  const siteId = fresh('a');
  const run = await deploy(siteId, on);
  await eventually('the request', () => posts(world.sandbox, `/v1/sites/${siteId}/deploy`).length > 0);
  await eventually('the begin', () => seen(siteId).at(-1)?.description === 'in progress');
  const runId = await runIdOf(run);
  await eventually('the call of its begin', () => callsOf(runId).length > 0);
  return { siteId, run };
}

describe('reports of a run on a real server', { concurrency: 4 }, () => {
  test('a repository and a monitor see its begin, then its end', async () => {
    const { siteId, run } = await inProgress();
    world.sandbox.finish({ site: siteId }, 'completed');
    assert.equal((await resultOf(run)).outcome, 'completed');
    assert.deepEqual(await told(run), ['heartbeat night', `report shop of deploy-site:${siteId}`]);
    assert.deepEqual(statesOf(siteId), ['pending', 'success']);
    assert.deepEqual(callsOf(await runIdOf(run)), ['/start', '']);
  });

  test('a run that was terminated is shown as ended from outside, and nothing stays in progress', async () => {
    const { siteId, run } = await inProgress();
    await world.client.workflow.getHandle(run.workflowId).terminate('by the test');
    await told(run);
    assert.deepEqual(statesOf(siteId), ['pending', 'error']);
    assert.equal(seen(siteId).at(-1)?.description, 'ended from outside');
    assert.deepEqual(callsOf(await runIdOf(run)), ['/start', '/fail']);
  });

  // What becomes of a worker that is killed is tested in test/integration/workers/.
  test('a worker that ends between two reports leaves the rest to another one', async () => {
    const queue = fresh('queue');
    const worker = await addWorker(world, queue, world.sandbox.url, { notify });
    const { siteId, run } = await inProgress(await belayOn(world, queue));
    await worker.stop();
    world.sandbox.finish({ site: siteId }, 'completed');
    await addWorker(world, queue, world.sandbox.url, { notify });
    assert.equal((await resultOf(run)).outcome, 'completed');
    await told(run);
    assert.deepEqual(statesOf(siteId), ['pending', 'success']);
  });

  test('no token and no address is in a history or a log, although the answers repeat them', async () => {
    world.sandbox.script({ site: 'refused-site' }, { durationMs: 0, ends: 'completed' });
    const run = await deploy('refused-site');
    assert.equal((await resultOf(run)).outcome, 'completed');
    await eventually('the refusal', () => place.requests.some((it) => it.includes('/refuses/')));
    await eventually('the end of the other report', () => statesOf('refused-site').at(-1) === 'success');
    const histories = await eventually('the refusal in the history', async () => {
      const found = await allHistories(world.client);
      return JSON.stringify(found).includes('GitHub answered 422') ? found : null;
    });
    assertNowhere(CANARY, { ...histories, 'the log': workerLog() }, COMMIT);
  });
});
