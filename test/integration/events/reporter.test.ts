/** The requests that tell places outside how a run stands, without Temporal, from receivers that lose answers. */
import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { beforeEach, before, describe, test } from 'node:test';
import { createNotifier } from '../../../src/features/notifications/worker.ts';
import type { Configuration } from '../../../src/config/file/file-schema.ts';
import type { ReportedState, ReportMessage } from '../../../src/features/notifications/shapes.ts';
import { siteTarget } from '../../../src/contract/target.ts';
import { literalService, type LiteralService } from '../../support/literal.ts';
import { secretFile } from '../../support/receiver.ts';
import { CANARY } from './shared.ts';

const COMMIT = 'ab'.repeat(20);
const RUN = { workflowId: 'deploy:34:k', firstRunId: '0199f3c2-0000-7000-8000-000000000001' };

interface Received {
  method: string | undefined;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}
const received: Received[] = [];
const deployments: { id: number; payload: unknown; ref: unknown }[] = [];
/** What meets the next requests whose path contains this, once each, after they had their effect. */
const troubles: { path: string; does: 'lost' | number; headers?: Record<string, string>; body?: string }[] = [];

let service: LiteralService;
before(async () => {
  service = await literalService((request, response) => {
    void text(request).then((body) => {
      const { method, url = '', headers } = request;
      received.push({ method, url, headers, body });
      const answer = answerTo(`${method} ${url.split('?')[0]}`, body);
      const index = troubles.findIndex(({ path }) => `${method} ${url}`.includes(path));
      const [trouble] = index < 0 ? [] : troubles.splice(index, 1);
      if (trouble?.does === 'lost') return void request.socket.destroy();
      response.writeHead(trouble?.does ?? 200, { location: '/elsewhere', ...trouble?.headers });
      response.end(trouble?.body ?? JSON.stringify(answer));
    });
  });
});
beforeEach(() => [received, deployments, troubles].forEach((it) => it.splice(0)));

/** As GitHub does: each POST of a deployment makes one. */
function answerTo(request: string, body: string): unknown {
  if (request.startsWith('GET')) return deployments.map((it) => ({ ...it, payload: JSON.stringify(it.payload) }));
  if (!request.endsWith('/deployments')) return {};
  const { payload, ref } = JSON.parse(body) as { payload: unknown; ref: unknown };
  const made = { id: deployments.length + 1, payload, ref };
  deployments.push(made);
  return made;
}

type Report = NonNullable<NonNullable<Configuration['notify']>['reports']>[string];
const token = () => secretFile(CANARY);
const github = async (as: 'status' | 'deployment'): Promise<Report> => ({
  ...{ kind: 'github', repository: 'acme/shop', token: await token(), as, url: `${service.url}/api/v3/` },
});

const SITE_URL = 'https://shop.example';

async function sender(notify: NonNullable<Configuration['notify']>, to: ReportMessage['to']) {
  const { sendReport } = await createNotifier(notify, {
    ofRun: () => 'https://ui.example',
    ofSite: (id) => (id === '34' ? SITE_URL : null),
  });
  return (state: ReportedState, line = 'in progress') => sendReport({ ...RUN, to, reported: { state, text: line } });
}

const ofSite = { kind: 'report' as const, name: 'shop', target: siteTarget('34'), commit: COMMIT };
const reporter = async (shop: Report) => sender({ reports: { shop } }, ofSite);
const fieldsOf = ({ body }: Received) => JSON.parse(body) as Record<string, unknown>;
const posts = () => received.filter(({ method }) => method === 'POST');

describe('reports to places outside', () => {
  test('GitHub gets a status of the commit for each state, with the token and a link', async () => {
    const send = await reporter(await github('status'));
    const states = ['waiting', 'begun', 'completed', 'failed', 'unclear', 'cancelled', 'refused'] as const;
    for (const state of states) assert.deepEqual(await send(state), { kind: 'taken' });
    assert.deepEqual(
      received.map((it) => fieldsOf(it).state),
      ['pending', 'pending', 'success', 'failure', 'error', 'error', 'error'],
    );
    const [first] = received;
    assert.equal(first?.url, `/api/v3/repos/acme/shop/statuses/${COMMIT}`);
    assert.equal(first.headers.authorization, `Bearer ${CANARY}`);
    const { context, description, target_url } = fieldsOf(first);
    assert.deepEqual([context, description, target_url], ['belay/34', 'in progress', 'https://ui.example']);
  });

  test('GitHub gets one deployment for a run, also if the answer to it was lost', async () => {
    const send = await reporter(await github('deployment'));
    deployments.push({ id: 1, ref: COMMIT, payload: { belay: 'deploy:34:other' } });
    troubles.push({ path: 'POST /api/v3/repos/acme/shop/deployments', does: 'lost' });
    assert.equal((await send('waiting')).kind, 'later');
    assert.deepEqual([await send('begun'), await send('completed')], [{ kind: 'taken' }, { kind: 'taken' }]);
    assert.deepEqual(
      deployments.map(({ id, ref }) => [id, ref]),
      [1, 2].map((id) => [id, COMMIT]),
    );
    const [made, ...statuses] = posts();
    const { auto_merge, required_contexts, environment } = fieldsOf(made!);
    assert.deepEqual([auto_merge, required_contexts, environment], [false, [], 'belay/34']);
    assert.deepEqual(
      statuses.map((it) => [it.url.split('/deployments/')[1], fieldsOf(it).state]),
      ['in_progress', 'success'].map((state) => ['2/statuses', state]),
    );
  });

  test('a deployment at GitHub links to the run, and to the site if belay.yaml knows it', async () => {
    const shop = await github('deployment');
    for (const target of [siteTarget('34'), siteTarget('35'), { kind: 'app' as const, id: '34' }])
      await (
        await sender({ reports: { shop } }, { ...ofSite, target })
      )('begun');
    const statuses = posts()
      .map(fieldsOf)
      .filter((it) => 'state' in it);
    assert.deepEqual(
      statuses.map((it) => [it.log_url, it.environment_url]),
      [SITE_URL, undefined, undefined].map((url) => ['https://ui.example', url]),
    );
  });

  test('a run that was kept back leaves its deployment at GitHub inactive', async () => {
    const send = await reporter(await github('deployment'));
    for (const state of ['waiting', 'cancelled', 'refused'] as const) await send(state);
    const states = posts().flatMap((it) => ('state' in fieldsOf(it) ? [fieldsOf(it).state] : []));
    assert.deepEqual(states, ['queued', 'inactive', 'inactive']);
  });

  test('GitLab gets a status of the commit, and one that it shows already counts as told', async () => {
    const shop: Report = { kind: 'gitlab', project: 'acme/shop', token: await token(), url: service.url };
    const send = await reporter(shop);
    const body = '{"message":"Cannot transition status via :run from :running"}';
    troubles.push({ path: 'POST', does: 400, body });
    for (const state of ['begun', 'waiting', 'completed', 'cancelled', 'refused'] as const)
      assert.deepEqual(await send(state), { kind: 'taken' });
    assert.deepEqual(
      received.map((it) => fieldsOf(it).state),
      ['running', 'pending', 'success', 'canceled', 'failed'],
    );
    assert.equal(received[0]?.url, `/projects/acme%2Fshop/statuses/${COMMIT}`);
    assert.equal(received[0].headers['private-token'], CANARY);
    troubles.push({ path: 'POST', does: 400, body: '{"message":"no"}' });
    assert.deepEqual(await send('begun'), { kind: 'refused', message: 'GitLab answered 400' });
  });

  test('healthchecks is told start, success, failure and log of one run, beside the query of its address', async () => {
    const night = { kind: 'healthchecks' as const, ...(await secretFile(`${service.url}/ping/${CANARY}/?create=1`)) };
    const send = await sender({ heartbeats: { night } }, { kind: 'heartbeat', name: 'night' });
    for (const state of ['begun', 'completed', 'failed', 'cancelled'] as const) await send(state, `${state}: why`);
    const query = `?create=1&rid=${RUN.firstRunId}`;
    assert.deepEqual(
      received.map(({ url, body }) => [url, body]),
      [
        [`/ping/${CANARY}/start${query}`, 'begun: why'],
        [`/ping/${CANARY}${query}`, 'completed: why'],
        [`/ping/${CANARY}/fail${query}`, 'failed: why'],
        [`/ping/${CANARY}/log${query}`, 'cancelled: why'],
      ],
    );
  });

  test('what only people can change is told from what passes, and no answer shows a secret', async () => {
    const send = await reporter(await github('status'));
    const echo = { body: CANARY };
    const wait = { 'retry-after': '90' };
    const nowSeconds = 1_800_000_000;
    const limited = (remaining: string) => ({
      date: new Date(nowSeconds * 1_000).toUTCString(),
      ...{ 'x-ratelimit-remaining': remaining, 'x-ratelimit-reset': String(nowSeconds + 90) },
    });
    for (const [does, headers, answer] of [
      [404, {}, { kind: 'refused', message: 'GitHub answered 404' }],
      [403, {}, { kind: 'refused', message: 'GitHub answered 403' }],
      [403, wait, { kind: 'later', message: 'GitHub answered 403', afterMs: 90_000 }],
      [403, limited('0'), { kind: 'later', message: 'GitHub answered 403', afterMs: 90_000 }],
      [403, { ...limited('0'), ...wait }, { kind: 'later', message: 'GitHub answered 403', afterMs: 90_000 }],
      [403, limited('17'), { kind: 'refused', message: 'GitHub answered 403' }],
      [404, limited('0'), { kind: 'refused', message: 'GitHub answered 404' }],
      [429, wait, { kind: 'later', message: 'GitHub answered 429', afterMs: 90_000 }],
      [502, {}, { kind: 'later', message: 'GitHub answered 502', afterMs: null }],
      [307, {}, { kind: 'later', message: 'GitHub answered 307', afterMs: null }],
      ['lost', {}, { kind: 'later', message: 'cannot reach GitHub: UND_ERR_SOCKET', afterMs: null }],
    ] as const) {
      troubles.push({ path: 'POST', does, headers, ...echo });
      assert.deepEqual(await send('begun'), answer);
    }
    assert.ok(received.every(({ url }) => !url.includes('elsewhere')));
  });

  test('a place that this worker does not have is left to another one', async () => {
    const send = await sender({}, ofSite);
    assert.deepEqual(await send('begun'), { kind: 'unknown' });
  });

  test('an address of an API that is neither https nor loopback is rejected', async () => {
    const shop: Report = { kind: 'gitlab', project: 7, token: await token(), url: 'http://gitlab.example' };
    const message = /^notify\.reports\.shop\.url: the address must begin with https:\/\//;
    await assert.rejects(reporter(shop), { name: 'ConfigError', message });
  });
});
