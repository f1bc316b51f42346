import '../../support/timing/use-patient.ts';
import assert from 'node:assert/strict';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, describe, test, type TestContext } from 'node:test';
import { Connection } from '@temporalio/client';
import { followEta } from '../../../src/features/advice/actions-eta.ts';
import { followLive } from '../../../src/cli/follow.ts';
import { connect, type OperationAdvice } from '../../../src/starter.ts';
import { startCommands, type Commands } from '../../support/commands.ts';
import { eventually } from '../../support/eventually.ts';
import { startFront, STATUS, type Front } from '../../support/front.ts';
import { runInProcess } from '../../support/in-process.ts';
import { began } from '../../support/journal.ts';
import { run as runProcess } from '../../support/processes.ts';
import { screenOf } from '../../support/screen.ts';
import { tempFolder } from '../../support/temporal.ts';
import { fresh, TOKEN } from '../../support/world.ts';

const [SLOW, STEADY, RARE] = [fresh('slow'), fresh('steady'), fresh('rare')];
const DOUBLE = '10 of the last 10 timed out at 0.2 s: raise --deploy-tries to 4';

let on: Commands;
let front: Front;
/** Through the front. */
let env: Record<string, string>;

async function deploy(siteId: string, count: number): Promise<void> {
  const pace = ['--deploy-interval', '100ms', '--deploy-tries', '2000'];
  for (let started = 0; started < count; started += 1) {
    assert.equal((await on.belay('deploy', '--site', siteId, ...pace, '--detach')).code, 0);
  }
}

/** It ends only when it has timed out. */
async function timeOut(siteId: string, ...options: string[]): Promise<string> {
  on.sandbox.script({ site: siteId }, { ends: 'never', words: ['building'] });
  const pace = ['--deploy-interval', '100ms', '--deploy-tries', '2'];
  const { code, stdout } = await on.belay('deploy', '--site', siteId, ...pace, ...options);
  assert.equal(code, 3);
  on.sandbox.finish({ site: siteId }, 'completed');
  return stdout;
}

async function adviceOn(siteId: string, extra: Record<string, string> = {}): Promise<OperationAdvice> {
  const { code, json } = await runInProcess(['advice', '--site', siteId, '--json'], { ...on.env, ...extra });
  const { operations } = json() as unknown as { operations: OperationAdvice[] };
  assert.deepEqual([code, operations.length], [0, 1]);
  return operations[0]!;
}

/** A run whose deployment goes on until the test ends it. */
async function deploying(t: TestContext, siteId: string): Promise<string> {
  // The next one would wait for it.
  t.after(() => on.sandbox.finish({ site: siteId }, 'completed'));
  const before = began(on.sandbox, 'deployment', siteId).length;
  on.sandbox.script({ site: siteId }, { ends: 'never', words: ['building'] });
  const pace = ['--deploy-interval', '1s', '--deploy-tries', '2000'];
  const started = await on.belay('deploy', '--site', siteId, ...pace, '--detach', '--json');
  await eventually('the deployment', () => began(on.sandbox, 'deployment', siteId).length > before);
  return String(started.json().workflowId);
}

describe('belay advice', { concurrency: 1 }, () => {
  before(async () => {
    on = await startCommands();
    front = await startFront(on.env.TEMPORAL_ADDRESS!);
    env = {
      ...on.env,
      ...{ TEMPORAL_ADDRESS: front.address, TEMPORAL_TLS_SERVER_CA_CERT_DATA: front.authority.cert },
    };
    await deploy(STEADY, 6);
    await deploy(RARE, 1);
    for (let ended = 0; ended < 10; ended += 1) await timeOut(SLOW);
    await eventually('all of them in the list', async () => {
      const all = await Promise.all([SLOW, STEADY, RARE].map((siteId) => adviceOn(siteId)));
      return all.map(({ n }) => n).join() === '10,6,1';
    });
  });

  test('shows timeouts with a remedy, usual durations, and where too few are known', async () => {
    const { code, stdout } = await on.belay(
      'advice',
      '--site',
      SLOW,
      '--site',
      STEADY,
      '--site',
      RARE,
      '--server',
      '9',
    );
    assert.equal(code, 0);
    const lines = stdout.trimEnd().split('\n');
    const of = (siteId: string) => lines.find((line) => line.startsWith(`deployment of ${siteId}: `)) ?? stdout;
    assert.match(of(SLOW), /: most timed out: 10 of 10$/);
    assert.equal(lines[lines.indexOf(of(SLOW)) + 1], `  ${DOUBLE}`);
    assert.match(of(STEADY), /: usually \S+, 95 % within \S+ \(of 6\)$/);
    assert.match(of(RARE), /: too few to tell: 1 in 30 days$/);
    assert.ok(lines.includes('backup of 9: too few to tell: 0 in 30 days'), stdout);
    assert.equal(lines.length, 5);
  });

  test('prints the same as data with --json, and looks at every server and target if none is named', async () => {
    const { json } = await on.belay('advice', '--json');
    const document = json() as unknown as { operations: OperationAdvice[] };
    assert.deepEqual(Object.keys(document), ['schemaVersion', 'operations', 'error']);
    const of = (siteId: string) => document.operations.find(({ target }) => target?.id === siteId);
    assert.deepEqual(of(SLOW), {
      ...{ kind: 'deployment', serverId: null, target: { kind: 'site', id: SLOW }, n: 10, timedOut: 10 },
      ...{ usuallyMs: null, p95Ms: null, budget: { intervalMs: 100, tries: 2 } },
      ...{ suggestedBudget: { intervalMs: 100, tries: 4 }, slowdown: null, advice: [DOUBLE] },
    });
    const steady = of(STEADY);
    assert.ok(steady?.usuallyMs && steady.p95Ms && steady.usuallyMs <= steady.p95Ms, JSON.stringify(steady));
    assert.deepEqual([steady.n, steady.budget, steady.advice], [6, null, []]);
  });

  test('costs one search, a read of each operation, and one for the budget', async () => {
    front.count();
    const { code } = await runInProcess(['advice', '--site', SLOW], env);
    const { ListWorkflowExecutions, GetWorkflowExecutionHistory, ...others } = front.count();
    assert.deepEqual([code, ListWorkflowExecutions, GetWorkflowExecutionHistory], [0, 1, 11]);
    assert.ok(
      Object.keys(others).every((method) => method === 'GetSystemInfo'),
      JSON.stringify(others),
    );
  });

  test('needs none of the search attributes of Belay', async () => {
    const { n, advice } = await adviceOn(SLOW, { BELAY_SEARCH_ATTRIBUTES: 'off' });
    assert.deepEqual([n, advice], [10, [DOUBLE]]);
  });

  test('exits 7 with one document if Temporal cannot be reached', async () => {
    // In this process, only what hangs is given up.
    const { code, json } = await runProcess(['advice', '--json'], { ...on.env, TEMPORAL_ADDRESS: '127.0.0.1:1' });
    assert.deepEqual([code, json().error?.type], [7, 'TemporalUnreachable']);
  });

  test('status of a deployment in flight shows how long it usually takes', async (t) => {
    const workflowId = await deploying(t, STEADY);
    const shown = await eventually('a wait for its end', async () => {
      const { stdout } = await on.belay('status', workflowId);
      return /now: .*"building".*usual/.test(stdout) && stdout;
    });
    // It goes on until the test ends it, for as long as this machine takes.
    assert.match(
      shown,
      /last status "building", next read in \d+ s; (usually \S+, \S+ so far|longer than usual \(95 % are done after \S+\))$/m,
    );
    const { json } = await on.belay('status', workflowId, '--json');
    const { usuallyMs, p95Ms } = await adviceOn(STEADY);
    assert.deepEqual((json() as unknown as { eta: object }).eta, { usuallyMs, p95Ms, n: 6 });
    on.sandbox.finish({ site: STEADY }, 'completed');
    assert.equal((await on.belay('wait', workflowId)).code, 0);
    const closed = await on.belay('status', workflowId, '--json');
    assert.equal((closed.json() as unknown as { eta: null }).eta, null);
  });

  test('the live line of a run shows it, and when the deployment was accepted, after one search', async (t) => {
    const workflowId = await deploying(t, STEADY);
    const counted = await startFront(on.env.TEMPORAL_ADDRESS!);
    const tls = { serverRootCACertificate: Buffer.from(counted.authority.cert) };
    const connection = await Connection.connect({ address: counted.address, tls });
    const belay = await connect({ connection, namespace: on.env.TEMPORAL_NAMESPACE! });
    const { stream, rows } = screenOf({ columns: 200 });
    const run = belay.get(workflowId);
    const live = followLive(run, { stream, eta: followEta(belay, run) });
    await eventually('what is usual', () =>
      /; (usually \S+, \S+ so far|longer than usual \(.*\))/.test(rows().join('\n')),
    );
    live.stop();
    assert.equal(counted.count().ListWorkflowExecutions, 1);
    await connection.close();
    on.sandbox.finish({ site: STEADY }, 'completed');
    assert.equal((await on.belay('wait', workflowId)).code, 0);
  });

  test('status shows the same without it while Temporal limits searches, and advice exits 7 at once', async (t) => {
    const workflowId = await deploying(t, STEADY);
    const limited = { status: STATUS.resourceExhausted, message: 'namespace rate limit exceeded' };
    front.refuse('ListWorkflowExecutions', () => limited);
    const { code, stdout } = await eventually('a wait for its end', async () => {
      const finished = await runInProcess(['status', workflowId], env);
      return finished.stdout.includes('"building"') && finished;
    });
    front.count();
    const advice = await runInProcess(['advice', '--json'], env);
    assert.deepEqual([advice.code, front.count().ListWorkflowExecutions], [7, 1]);
    assert.match(advice.json().error?.message ?? '', /^cannot look back at past operations: Temporal limits the calls/);
    front.refuse('ListWorkflowExecutions', () => null);
    assert.equal(code, 0);
    assert.match(stdout, /now: deployment of \S+: try \d+ of 2000, last status "building", next read in \d+ s$/m);
    on.sandbox.finish({ site: STEADY }, 'completed');
    assert.equal((await on.belay('wait', workflowId)).code, 0);
  });

  test('a summary and the status of a timeout carry the advice, and the verdict is the same', async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'belay-summary-')), 'summary.md');
    const stdout = await timeOut(SLOW, '--summary', file, '--json');
    const advised = new RegExp(
      `deployment of \`?${SLOW}\`?: \\d+ of the last \\d+ timed out at 0\\.2 s: raise --deploy-tries to 4$`,
      'm',
    );
    assert.match(await readFile(file, 'utf8'), advised);
    const { workflowId, error } = JSON.parse(stdout) as { workflowId: string; error: { message: string } };
    assert.doesNotMatch(error.message, /raise/);
    assert.match((await on.belay('status', workflowId)).stdout, advised);
  });

  test('doctor warns of tries that are too few, and of a site that a freeze for a fleet misses', async () => {
    const BELAY_CONFIG = join(await tempFolder(), 'belay.yaml');
    await writeFile(
      BELAY_CONFIG,
      `fleets: { shop: { servers: { 12: { sites: [${STEADY}] } } } }
freezes: { season: { from: 2020-01-01T00:00, to: 2020-01-02T00:00, for: { fleets: [shop] }, reason: season } }
`,
    );
    const { json } = await runInProcess(['doctor', '--json'], {
      ...on.env,
      ...{ BELAY_API_URL: on.sandbox.url, BELAY_API_TOKEN: TOKEN, BELAY_CONFIG },
    });
    const { checks } = json() as unknown as { checks: { name: string; state: string; message: string }[] };
    const tries = checks.find(({ name }) => name === 'tries');
    assert.equal(tries?.state, 'warning');
    assert.match(tries.message, new RegExp(`site ${SLOW}: \\d+ of the last \\d+ timed out at 0\\.2 s: raise`));
    const fleets = checks.find(({ name }) => name === 'fleets');
    assert.equal(fleets?.state, 'warning');
    assert.match(fleets.message, new RegExp(`lack what was deployed in the last 30 days: .*site ${SLOW}`));
    assert.ok(!fleets.message.includes(STEADY));
  });
});
