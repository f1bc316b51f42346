import '../../support/timing/use-patient.ts';
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { startSandbox, type Sandbox } from '../../../src/sandbox/server.ts';
import { atEnd } from '../../support/at-end.ts';
import { eventually } from '../../support/eventually.ts';
import { runInProcess } from '../../support/in-process.ts';
import { run, type Finished } from '../../support/processes.ts';
import { startTemporal, tempFolder } from '../../support/temporal.ts';
import { addWorker, fresh, TASK_QUEUE, TOKEN } from '../../support/world.ts';
import { literalService } from '../../support/literal.ts';
import { proxyThat } from '../../support/proxy.ts';

interface Check {
  name: string;
  state: string;
  message: string;
  remedy?: string;
}

let sandbox: Sandbox;
let env: Record<string, string>;

const doctor = async (extra: Record<string, string> = {}, ...args: string[]) =>
  seenIn(await runInProcess(['doctor', '--json', ...args], { ...env, ...extra }));

/** A process of its own has the real limits. Those of this one end only what hangs. */
const doctorWithLimits = async (extra: Record<string, string>) =>
  seenIn(await run(['doctor', '--json'], { ...env, ...extra }));

function seenIn({ code, stdout, stderr }: Finished) {
  const { checks } = JSON.parse(stdout) as { checks: Check[] };
  const state = (name: string) => checks.find((check) => check.name === name)?.state;
  const of = (name: string) => checks.find((check) => check.name === name);
  return { code, checks, state, of, stderr };
}

/** A new server on a busy machine does not always report its time at the first look. */
const doctorOnTime = () =>
  eventually("Temporal's clock", async () => {
    const looked = await doctor();
    return looked.state("Temporal's clock") === 'ok' && looked;
  });

describe('belay doctor', () => {
  before(async () => {
    sandbox = await startSandbox({ token: TOKEN });
    atEnd(() => sandbox.close());
    const { address } = await startTemporal();
    env = { TEMPORAL_ADDRESS: address, BELAY_API_URL: sandbox.url, BELAY_API_TOKEN: TOKEN };
  });

  test('doctor reports what a new Temporal server lacks, and --fix sets its retention and search attributes', async () => {
    const before = await doctorOnTime();
    assert.equal(before.code, 2);
    assert.deepEqual(
      before.checks.map(({ name, state }) => [name, state]),
      [
        ['configuration', 'ok'],
        ['service', 'ok'],
        ["service's clock", 'ok'],
        ['checks of sites', 'skipped'],
        ['Temporal', 'ok'],
        ['namespace', 'warning'],
        ['search attributes', 'warning'],
        ["Temporal's clock", 'ok'],
        ['worker', 'failed'],
        ['encryption', 'ok'],
        ['policy', 'skipped'],
        ['tries', 'skipped'],
        ['fleets', 'skipped'],
        ['reports', 'skipped'],
      ],
    );
    assert.match(before.of('worker')?.remedy ?? '', /belay worker/);
    assert.match(before.of('namespace')?.remedy ?? '', /--retention 30d.*belay doctor --fix/);
    const fixed = await doctor({}, '--fix');
    assert.match(fixed.of('namespace')?.message ?? '', /now 30 days/);
    assert.match(fixed.of('search attributes')?.message ?? '', /: registered$/);
    const after = await doctor();
    assert.deepEqual([after.state('namespace'), after.state('search attributes')], ['ok', 'ok']);
  });

  test('doctor passes with a worker, shows its version and start time, and triggers nothing', async () => {
    await doctor({}, '--fix');
    await addWorker({ address: env.TEMPORAL_ADDRESS ?? '', namespace: 'default' }, TASK_QUEUE, sandbox.url);
    const { code, checks, of, stderr } = await doctorOnTime();
    assert.equal(code, 0, JSON.stringify(checks));
    assert.match(
      of('worker')?.message ?? '',
      /^\d+\.\d+\.\d+ at \S+:\d+ for http:\/\/127\.0\.0\.1:\d+ since \d{4}-\S+Z/,
    );
    assert.equal(stderr, '');
    assert.ok(!sandbox.journal.some(({ request }) => request.startsWith('POST')));
  });

  test('without BELAY_API_*, doctor checks a starter: it asks no service, and exits 0 if a worker polls', async () => {
    const BELAY_TASK_QUEUE = fresh('q');
    const starter = { TEMPORAL_ADDRESS: env.TEMPORAL_ADDRESS ?? '', BELAY_TASK_QUEUE };
    await runInProcess(['doctor', '--fix'], starter);
    assert.equal((await runInProcess(['doctor'], starter)).code, 2);
    await addWorker({ address: starter.TEMPORAL_ADDRESS, namespace: 'default' }, BELAY_TASK_QUEUE, sandbox.url);
    const asked = sandbox.journal.length;
    const { code, stdout } = await runInProcess(['doctor', '--json'], starter);
    const { checks } = JSON.parse(stdout) as { checks: Check[] };
    assert.equal(code, 0, stdout);
    assert.deepEqual(
      checks.map(({ name }) => name),
      [
        ...['configuration', 'Temporal', 'namespace', 'search attributes', "Temporal's clock", 'worker', 'encryption'],
        ...['policy', 'tries', 'fleets', 'reports'],
      ],
    );
    assert.equal(sandbox.journal.length, asked);
    const elsewhere = await runInProcess(['doctor'], { ...starter, BELAY_SERVICE: 'https://other.example.com' });
    assert.equal(elsewhere.code, 0);
    assert.match(
      elsewhere.stdout,
      /^warning {4}worker: the workers serve \S+, but runs from here are for https:\/\/other\.example\.com\n +correct BELAY_SERVICE/m,
    );
    const profile = await runInProcess(['doctor'], { BELAY_TASK_QUEUE, TEMPORAL_PROFILE: 'prod' });
    assert.deepEqual(
      [profile.code, /has no profile prod: add it, or correct TEMPORAL_PROFILE$/m.test(profile.stderr)],
      [2, true],
    );
    const half = await runInProcess(['doctor'], { ...starter, BELAY_API_TOKEN: TOKEN });
    assert.deepEqual([half.code, /BELAY_API_URL is not set/.test(half.stdout)], [2, true]);
    const named = await runInProcess(['doctor', '--for', 'starter'], { ...env, BELAY_TASK_QUEUE });
    assert.match(named.stdout, /^ok {9}configuration: enough to start runs for /);
  });

  test('doctor warns if two workers of a queue apply different policies', async () => {
    const BELAY_TASK_QUEUE = fresh('q');
    const place = { address: env.TEMPORAL_ADDRESS ?? '', namespace: 'default' };
    const season = { from: '2020-01-01T00:00', to: '2020-01-02T00:00', reason: 'the season of the shop' };
    await addWorker(place, BELAY_TASK_QUEUE, sandbox.url);
    const policy = async (state: string) =>
      eventually(`a policy that is ${state}`, async () => {
        const found = (await doctor({ BELAY_TASK_QUEUE })).of('policy');
        return found?.state === state ? found.message : null;
      });
    assert.match(await policy('ok'), /^[0-9a-f]{12} at every worker$/);
    await addWorker(place, BELAY_TASK_QUEUE, sandbox.url, { freezes: { season } });
    assert.match(await policy('warning'), /^the workers differ: [0-9a-f]{12} at \S+; [0-9a-f]{12} at \S+$/);
  });

  test('doctor warns of runs that no repository gets, and of a token that is one of another kind', async () => {
    const BELAY_TASK_QUEUE = fresh('q');
    const address = env.TEMPORAL_ADDRESS ?? '';
    await addWorker({ address, namespace: 'default' }, BELAY_TASK_QUEUE, sandbox.url);
    const siteId = fresh('a');
    sandbox.script({ site: siteId }, { durationMs: 0, ends: 'completed' });
    const args = ['deploy', '--site', siteId, '--commit', 'abcdef1', '--key', 'k', '--detach'];
    assert.equal((await runInProcess(args, { ...env, BELAY_TASK_QUEUE })).code, 0);
    const BELAY_CONFIG = join(await tempFolder(), 'belay.yaml');
    const shop = { kind: 'github', repository: 'acme/shop', token: { env: 'REPORT_TOKEN' } };
    writeFileSync(BELAY_CONFIG, JSON.stringify({ notify: { reports: { shop } } }));
    const look = (token: string) => doctor({ BELAY_TASK_QUEUE, BELAY_CONFIG, REPORT_TOKEN: token });
    const short = await eventually('the run in the list', async () => {
      const { of } = await look('token');
      return of('reports')?.state === 'warning' ? of('reports') : null;
    });
    assert.equal(
      short?.message,
      `1 of the last 1 runs with a commit were not reported, such as deploy:${siteId}:k with abcdef1`,
    );
    const wrong = await look('glpat-canary');
    assert.deepEqual([wrong.code, wrong.state('configuration')], [2, 'failed']);
    assert.match(
      wrong.of('configuration')?.message ?? '',
      /belay\.yaml:1: notify\.reports\.shop\.token: it is a token of gitlab/,
    );
  });

  test('doctor exits 2 with a remedy for a refused token, an unreachable service and a missing configuration', async () => {
    const refused = await doctor({ BELAY_API_TOKEN: 'another' });
    assert.deepEqual([refused.code, refused.state('service')], [2, 'failed']);
    assert.match(refused.of('service')?.message ?? '', /rejects the API token/);
    assert.match(refused.of('service')?.remedy ?? '', /new token/);
    const gone = await doctor({ BELAY_API_URL: 'http://127.0.0.1:1' });
    assert.deepEqual([gone.code, gone.state('service')], [2, 'failed']);
    assert.match(gone.of('service')?.remedy ?? '', /check BELAY_API_URL/);
    const bare = { TEMPORAL_ADDRESS: env.TEMPORAL_ADDRESS ?? '' };
    const { code, stdout } = await runInProcess(['doctor', '--for', 'worker'], bare);
    assert.equal(code, 2);
    assert.match(
      stdout,
      /^failed {5}configuration: BELAY_API_URL is not set\n {13}set BELAY_API_URL, and BELAY_API_TOKEN/,
    );
  });

  test('doctor checks the rest when Temporal is unreachable', async () => {
    const { code, checks, state, of } = await doctorWithLimits({ TEMPORAL_ADDRESS: '127.0.0.1:1' });
    assert.equal(code, 2);
    assert.deepEqual([state('service'), state('Temporal'), state('worker')], ['ok', 'failed', 'skipped']);
    assert.match(
      of('Temporal')?.message ?? '',
      /127\.0\.0\.1:1 \(from TEMPORAL_ADDRESS\) does not answer: connection refused/,
    );
    assert.ok(checks.every((check) => check.state !== 'failed' || check.remedy !== undefined));
  });

  test('commands and doctor connect to Temporal past a proxy of the environment, which a failure names', async () => {
    const { proxy, asked } = await proxyThat('', false);
    const proxies = { https_proxy: proxy, HTTP_PROXY: proxy };
    const { state, of } = await doctor(proxies);
    assert.equal(state('Temporal'), 'ok');
    assert.doesNotMatch(of('tries')?.message ?? '', /no Temporal server/);
    const listed = await runInProcess(['list', '--json'], { ...env, ...proxies });
    assert.deepEqual([listed.code, asked()], [0, '']);
    const unreached = { ...proxies, TEMPORAL_ADDRESS: '127.0.0.1:1' };
    const { stderr } = await run(['list'], { ...env, ...unreached });
    assert.match(
      stderr,
      /at 127\.0\.0\.1:1: start .*; Belay uses no proxy for Temporal, and https_proxy, HTTP_PROXY are set/,
    );
    assert.doesNotMatch(stderr, /user|p%40ss/);
    assert.match(
      (await doctorWithLimits(unreached)).of('Temporal')?.remedy ?? '',
      /and https_proxy, HTTP_PROXY are set/,
    );
  });

  test('doctor asks the service only through the proxy, and only as Belay', async () => {
    const agents: (string | undefined)[] = [];
    const service = await literalService((request, response) => {
      agents.push(request.headers['user-agent']);
      response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
    });
    const { proxy, asked } = await proxyThat('200 Connection established');
    const through = await doctor({ BELAY_API_URL: service.url, BELAY_PROXY: proxy });
    assert.deepEqual([through.state('service'), through.state("service's clock")], ['ok', 'ok']);
    assert.deepEqual(agents, ['belay', 'belay']);
    assert.equal(asked().match(/CONNECT/g)?.length, 2);
    const refusing = await proxyThat('403 Forbidden', false);
    const { state } = await doctor({ BELAY_API_URL: service.url, BELAY_PROXY: refusing.proxy });
    assert.deepEqual([state('service'), state("service's clock")], ['failed', 'skipped']);
    assert.equal(agents.length, 2);
  });

  test('doctor finds no fault with the clock of a service that answers slowly', async () => {
    let asked = 0;
    const slow = await literalService((_request, response) => {
      response.writeHead(404, { date: new Date().toUTCString(), 'content-type': 'application/json' });
      // The first question is whether it answers, and the second one is for its time.
      setTimeout(() => response.end('{}'), (asked += 1) === 2 ? 3_000 : 0);
    });
    const { state } = await doctor({ BELAY_API_URL: slow.url });
    assert.deepEqual([asked, state('service'), state("service's clock")], [2, 'ok', 'ok']);
  });

  test('doctor warns if the clock of the service differs', async () => {
    const behind = await literalService((_request, response) => {
      response.writeHead(404, {
        date: new Date(Date.now() - 60_000).toUTCString(),
        'content-type': 'application/json',
      });
      response.end('{}');
    });
    const { of } = await doctor({ BELAY_API_URL: behind.url });
    assert.equal(of("service's clock")?.state, 'warning');
    assert.match(of("service's clock")?.message ?? '', /(59|[6-9]\d|\d{3,})\.\d s ahead of the service/);
  });
});
