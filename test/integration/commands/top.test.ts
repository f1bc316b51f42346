import '../../support/timing/use-patient.ts';
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { commandsOn, type Commands } from '../../support/commands.ts';
import { eventually } from '../../support/eventually.ts';
import { runInProcess, startInProcess } from '../../support/in-process.ts';
import { began } from '../../support/journal.ts';
import { tempFolder } from '../../support/temporal.ts';
import { fresh, TOKEN } from '../../support/world.ts';

let on: Commands;
before(async () => {
  on = await commandsOn('runs');
});

/** A run whose deployment goes on until the test ends it. */
async function deploying(siteId: string): Promise<string> {
  on.sandbox.script({ site: siteId }, { ends: 'never', words: ['building'] });
  const pace = ['--deploy-interval', '1s', '--deploy-tries', '2000'];
  const started = await on.belay('deploy', '--site', siteId, ...pace, '--detach', '--json');
  await eventually('the deployment', () => began(on.sandbox, 'deployment', siteId).length === 1);
  return String(started.json().workflowId);
}

interface TopDocument {
  schemaVersion: number;
  runs: { workflowId: string; outcome: null; why: string | null; contact: string; needsAttention: boolean }[];
  targets: {
    target: object;
    siteId: string;
    status: string | null;
    state: string | null;
    readAt: string | null;
    problem: string | null;
  }[];
  error: { type: string; message: string } | null;
}

describe('belay top', { concurrency: 4 }, () => {
  test('without a terminal, top prints what is in flight once and exits 0, and with --json one document', async () => {
    const siteId = fresh('a');
    const workflowId = await deploying(siteId);
    const now = new RegExp(
      `^${workflowId} +\\d+ (?:s|min) +deploy +${siteId} +deployment of ${siteId}: try \\d+ of 2000, last status "building", next`,
      'm',
    );
    const { code, stdout, stderr } = await eventually('its row', async () => {
      const finished = await on.belay('top', '--limit', '1000');
      return now.test(finished.stdout) && finished;
    });
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^ID +AGE +PHASE +WHAT +NOW\n[^]*\n\d+ in flight\n$/);
    // A read that is late needs attention.
    const entry = await eventually('a read in time', async () => {
      const { json } = await on.belay('top', '--json', '--limit', '1000');
      const document = json() as unknown as TopDocument;
      assert.deepEqual(Object.keys(document), ['schemaVersion', 'runs', 'rollouts', 'total', 'complete', 'error']);
      return document.runs.find((it) => it.workflowId === workflowId && !it.needsAttention);
    });
    assert.deepEqual([entry.outcome, entry.contact], [null, 'answers']);
    assert.match(entry.why ?? '', /try \d+ of 2000, last status "building", next read at \d{4}-/);
    on.sandbox.finish({ site: siteId }, 'completed');
    assert.equal((await on.belay('wait', workflowId)).code, 0);
    await eventually('its end', async () => !(await on.belay('top', '--limit', '1000')).stdout.includes(workflowId));
  });

  test('top --site reads the service without Temporal, and shows a failed read in its row', async () => {
    const [siteId, never] = [fresh('a'), fresh('a')];
    on.sandbox.script({ site: siteId }, { ends: 'never', words: ['building'] });
    on.sandbox.act({ site: siteId });
    const env = { BELAY_API_URL: on.sandbox.url, BELAY_API_TOKEN: TOKEN, TEMPORAL_ADDRESS: '127.0.0.1:1' };
    const top = (...args: string[]) => runInProcess(['top', '--site', siteId, '--site', never, ...args], env);
    const { code, stdout } = await top();
    assert.equal(code, 0);
    const [titles, first, second] = stdout.split('\n');
    assert.match(titles ?? '', /^TARGET +STATUS +FOR +READ +PROBLEM$/);
    assert.match(first ?? '', new RegExp(`^${siteId} +building +– +\\d+ s ago$`));
    assert.match(second ?? '', new RegExp(`^${never} +– +– +– +404 `));
    const asked = await top('--json');
    const { schemaVersion, targets, error } = asked.json() as unknown as TopDocument;
    assert.deepEqual([asked.code, schemaVersion, error], [0, 1, null]);
    assert.deepEqual(Object.keys(targets[0] ?? {}), ['target', 'siteId', 'status', 'state', 'readAt', 'problem']);
    assert.deepEqual(
      targets.map((it) => [it.siteId, it.state, it.problem === null, it.readAt === null]),
      [
        [siteId, 'in_progress', true, false],
        [never, null, false, true],
      ],
    );
    assert.ok(!stdout.includes(TOKEN) && !asked.stdout.includes(TOKEN));
    const requests = on.sandbox.journal.filter(({ request }) => request.includes(`/${siteId}/`));
    assert.ok(requests.every(({ request }) => request.startsWith('GET ')));
  });

  test('top --fleet reads every target of a fleet in belay.yaml', async () => {
    const [one, two] = [fresh('a'), fresh('a')];
    const config = join(await tempFolder(), 'belay.yaml');
    writeFileSync(config, `fleets: { shop: { servers: { s1: { sites: [${one}] }, s2: { sites: [${two}] } } } }\n`);
    on.sandbox.act({ site: one });
    const env = { BELAY_API_URL: on.sandbox.url, BELAY_API_TOKEN: TOKEN, BELAY_CONFIG: config };
    const { code, json } = await runInProcess(['top', '--fleet', 'shop', '--json'], env);
    const { targets } = json() as unknown as TopDocument;
    assert.deepEqual([code, targets.map(({ siteId }) => siteId)], [0, [one, two]]);
  });

  test('top --site and doctor find the sandbox of a running dev, unless another Temporal is named', async () => {
    const siteId = fresh('a');
    const home = await tempFolder();
    const record = {
      pid: process.pid,
      temporal: '127.0.0.1:1',
      ui: null,
      sandbox: { url: on.sandbox.url, token: TOKEN },
    };
    writeFileSync(join(home, 'dev.json'), JSON.stringify(record), { mode: 0o600 });
    on.sandbox.act({ site: siteId });
    const env = { BELAY_HOME: home };
    const found = await runInProcess(['top', '--site', siteId, '--json'], env);
    assert.deepEqual([found.code, (found.json() as unknown as TopDocument).targets[0]?.problem], [0, null]);
    const named = await runInProcess(['top', '--site', siteId], { ...env, TEMPORAL_ADDRESS: '127.0.0.1:1' });
    assert.match(named.stderr, /BELAY_API_URL is not set/);
    assert.ok(!(found.stdout + found.stderr + named.stderr).includes(TOKEN));
  });

  test('top --recent shows what has ended beside what is in flight', async () => {
    const siteId = fresh('a');
    const pace = ['--deploy-interval', '1s', '--json'];
    const { workflowId } = (await on.belay('deploy', '--site', siteId, ...pace)).json();
    const row = new RegExp(`^${workflowId} +.*completed +${siteId} +ended \\d+ (s|min) ago$`, 'm');
    await eventually('its row', async () =>
      row.test((await on.belay('top', '--recent', '1h', '--limit', '1000')).stdout),
    );
    const { recent } = (await on.belay('top', '--recent', '1h', '--limit', '1000', '--json')).json() as unknown as {
      recent: { workflowId: string; outcome: string }[];
    };
    assert.equal(recent.find((it) => it.workflowId === workflowId)?.outcome, 'completed');
  });

  const WRONG: [args: string[], env: Record<string, string>, message: RegExp][] = [
    [['--site', 'a1'], {}, /BELAY_API_URL is not set/],
    [['--app', '7'], { BELAY_API_URL: 'http://127.0.0.1:1', BELAY_API_TOKEN: 't' }, /add api\.app to belay\.yaml/],
    [['--site', 'a1', '--interval', '500ms'], {}, /Use a duration from 1s to 1h/],
    [['--interval', '2s'], {}, /--interval is for --site, --app and --fleet/],
    [['--fleet', 'shop'], {}, /^belay\.yaml cannot be read \(ENOENT\): `belay init` begins one/],
    [['--fleet', 'shop', '--site', 'a1'], {}, /cannot be used with option/],
    [['--recent', '12h', '--site', 'a1'], {}, /cannot be used with option/],
    [['--recent', '31d'], {}, /Use a duration from 1s to/],
    [['--site', 'a1', '--limit', '3'], {}, /'--limit <n>' cannot be used with option/],
    [['--site', 'a1', '--site', 'a1'], {}, /"a1" is given twice/],
  ];
  for (const [args, env, message] of WRONG) {
    test(`top ${args.join(' ')} exits 2 with one document that says why`, async () => {
      const { code, json } = await runInProcess(['top', ...args, '--json'], env);
      assert.deepEqual([code, json().error?.type], [2, 'Usage']);
      assert.match(json().error?.message ?? '', message);
    });
  }
});

describe('belay status --watch', { concurrency: 4 }, () => {
  test('prints a line for each change until the run has ended, then exits like status', async () => {
    const siteId = fresh('a');
    const workflowId = await deploying(siteId);
    const watching = startInProcess(['status', workflowId, '--watch', '--exit-status'], on.env);
    await eventually('a line', () =>
      /^deployment of a\d+: try \d+ of 2000, last status "building"$/m.test(watching.output.stdout),
    );
    on.sandbox.finish({ site: siteId }, 'failed');
    const { code, stdout } = await watching.finished;
    assert.equal(code, 1);
    const [lines = '', end = ''] = stdout.split(/^(?=failed in )/m);
    const printed = lines.trimEnd().split('\n');
    assert.equal(new Set(printed).size, printed.length, lines);
    const closed = await on.belay('status', workflowId, '--watch');
    assert.deepEqual([closed.code, closed.stdout], [0, end]);
    assert.equal(closed.stdout, (await on.belay('status', workflowId)).stdout);
  });

  test('ends with 130 on Ctrl-C, and the run continues', async () => {
    const siteId = fresh('a');
    const workflowId = await deploying(siteId);
    const watching = on.start('status', workflowId, '--watch');
    await eventually('a line', () => watching.output.stdout !== '');
    watching.process.kill('SIGINT');
    const { code, stderr } = await watching.finished;
    assert.deepEqual(
      [code, stderr],
      [130, `The run continues. To watch it again: \`npx belay-deploy status ${workflowId} --watch\`\n`],
    );
    on.sandbox.finish({ site: siteId }, 'completed');
    assert.equal((await on.belay('wait', workflowId)).code, 0);
  });

  test('exits 2 with --json, and for a run that does not exist', async () => {
    const both = await on.belay('status', 'deploy:a1:k', '--watch', '--json');
    assert.deepEqual([both.code, both.json().error?.type], [2, 'Usage']);
    const missing = await on.belay('status', 'deploy:nobody:nothing', '--watch');
    assert.deepEqual([missing.code, missing.stdout], [2, '']);
    assert.match(missing.stderr, /^belay: there is no deploy:nobody:nothing/);
  });
});
