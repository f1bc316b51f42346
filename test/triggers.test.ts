import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { before, describe, test } from 'node:test';
import { literalService, type LiteralService } from './support/literal.ts';
import { resultOf } from './support/outcome.ts';
import { replayAll } from './support/replay.ts';
import { fresh, startWorld, type World } from './support/world.ts';

const PACE = { intervalMs: 300, tries: 60 };

/** What a site answers to one request; the last answer stays. */
type Answer = (response: ServerResponse) => void;

const json =
  (status: number, body: object, headers: Record<string, string> = {}): Answer =>
  (response) =>
    void response.writeHead(status, headers).end(JSON.stringify(body));
const status = (word: string): Answer => json(200, { status: word });
const reset: Answer = (response) => void response.socket?.resetAndDestroy();

const answers = new Map<string, Answer[]>();
let service: LiteralService;
let world: World;

before(async () => {
  service = await literalService((request, response) => {
    const list = answers.get(`${request.method} ${request.url?.split('/')[3]}`) ?? [json(404, {})];
    const answer = list.length > 1 ? list.shift() : list[0];
    answer?.(response);
  });
  world = await startWorld({ serviceUrl: service.url });
});

/** Deploys a site whose POSTs and reads are answered so, one after the other. */
async function deploy(posts: Answer[], reads: Answer[], more: object = {}) {
  const siteId = fresh('a');
  answers.set(`POST ${siteId}`, [...posts]);
  answers.set(`GET ${siteId}`, [...reads]);
  const result = await resultOf(await world.belay.start({ siteIds: [siteId], deploy: { ...PACE, ...more } }));
  const sent = service.requests.filter((request) => request === `POST /v1/sites/${siteId}/deploy`).length;
  const [deployment] = result.deployments;
  assert.ok(deployment);
  return { result, deployment, sent };
}

const OLD = [status('completed'), status('completed')];

// Each test has sites and servers of its own, and most of them wait: they run at once.
describe('triggers', { concurrency: 12 }, () => {
  test('an answer that was lost is found by its trace: one deployment, and completed', async () => {
    const { deployment, sent } = await deploy([reset], [...OLD, status('building'), status('completed')]);
    assert.equal(deployment.outcome, 'completed');
    assert.deepEqual(deployment.trigger, { attempts: 1, ambiguous: true, reconciledBy: 'transition' });
    assert.equal(sent, 1);
  });

  test('a trigger turned away with 503 and Retry-After is sent again', async () => {
    const turnedAway = json(503, {}, { 'Retry-After': '1' });
    const reads = [...OLD, status('completed'), status('building'), status('completed')];
    const { deployment, sent } = await deploy([turnedAway, json(200, {})], reads);
    assert.equal(deployment.outcome, 'completed');
    assert.deepEqual(deployment.trigger, { attempts: 2, ambiguous: false, reconciledBy: null });
    assert.equal(sent, 2);
  });

  test('a trigger turned away five times ends not started', async () => {
    const { deployment, sent } = await deploy([json(429, {})], [status('completed')]);
    assert.equal(deployment.outcome, 'not_started');
    assert.equal(deployment.error?.type, 'Refused');
    assert.equal(sent, 5);
  });

  test('a refused trigger ends not started, and is not repeated', async () => {
    const { deployment, sent } = await deploy([json(403, { message: 'no' })], [status('completed')]);
    assert.equal(deployment.outcome, 'not_started');
    assert.match(deployment.error?.message ?? '', /403 .*no/);
    assert.equal(sent, 1);
  });

  test('without any trace for the whole settle time the trigger is sent once more, and no third time', async () => {
    const { deployment, sent } = await deploy([json(500, {})], [status('completed')]);
    assert.equal(deployment.outcome, 'unknown');
    assert.match(deployment.error?.message ?? '', /sent twice/);
    assert.equal(sent, 2);
  });

  test("somebody else's deployment is waited for before ours is triggered", async () => {
    const reads = [
      status('pushed'),
      status('pushed'),
      status('pushed'),
      status('failed'),
      status('ours'),
      status('failed'),
    ];
    const { deployment, sent } = await deploy([json(200, {})], reads);
    assert.equal(deployment.outcome, 'failed');
    assert.equal(deployment.evidence, 'transition');
    assert.equal(sent, 1);
  });

  test("somebody else's deployment that does not end in time is Busy, and names the status and the remedy", async () => {
    const { deployment, sent } = await deploy([json(200, {})], [status('pushed')], { baselineWaitMs: 900 });
    assert.equal(deployment.outcome, 'not_started');
    assert.equal(deployment.error?.type, 'Busy');
    assert.match(deployment.error?.message ?? '', /"pushed".*map the status/);
    assert.equal(sent, 0);
  });

  test('a conflict is waited out, too', async () => {
    const { deployment, sent } = await deploy(
      [json(409, {}), json(200, {})],
      [...OLD, status('completed'), status('x'), status('completed')],
    );
    assert.equal(deployment.outcome, 'completed');
    assert.equal(sent, 2);
  });

  test('the same final status as before is settled after ten seconds at the least', async () => {
    const startedMs = Date.now();
    const { deployment } = await deploy([json(200, {})], [status('completed')]);
    assert.equal(deployment.outcome, 'completed');
    assert.equal(deployment.evidence, 'settled');
    assert.ok(Date.now() - startedMs >= 10_000);
  });

  test('the same final status as before, with a budget shorter than the settle time, is unknown', async () => {
    const { deployment } = await deploy([json(200, {})], [status('completed')], { tries: 5 });
    assert.equal(deployment.outcome, 'unknown');
    assert.equal(deployment.error?.type, 'OutcomeUnknown');
  });

  test('a Retry-After beyond the whole time ends the wait at once', async () => {
    const later = json(429, {}, { 'Retry-After': '3600' });
    const startedMs = Date.now();
    const { deployment } = await deploy([json(200, {})], [...OLD, later], { intervalMs: 2_000, tries: 20 });
    assert.equal(deployment.outcome, 'unknown');
    assert.match(deployment.error?.message ?? '', /429/);
    assert.ok(Date.now() - startedMs < 20_000);
  });

  test('the token refused while waiting is borne for a while, and is then unknown', async () => {
    const { result, deployment } = await deploy([json(200, {})], [...OLD, json(401, {})], {
      intervalMs: 1_000,
      tries: 2,
    });
    assert.equal(result.outcome, 'unknown');
    assert.equal(deployment.error?.type, 'Refused');
  });
});

test('every history of these tests is replayed by the workflows without a difference', async () => {
  assert.ok((await replayAll(world.client)) > 5);
});
