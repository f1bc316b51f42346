import '../../support/timing/use-patient.ts';
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { connect } from '../../../src/starter.ts';
import { commandsOn, type Commands } from '../../support/commands.ts';
import { runInProcess } from '../../support/in-process.ts';
import { run } from '../../support/processes.ts';
import { tempFolder } from '../../support/temporal.ts';
import { TOKEN } from '../../support/world.ts';

let on: Commands;
before(async () => {
  on = await commandsOn('nothing');
});

const RUN = ['run', '--server', 's1', '--site', 'a1'];

/** The arguments, and what the one line must contain. */
const BAD: [args: string[], says: RegExp][] = [
  [['run', '--server', '', '--site', 'a1'], /--server <id>'.*The id is empty/],
  [['run', '--server', '..', '--site', 'a1'], /--server <id>'.*The id must not be ".."/],
  [['run', '--server', 's1', '--site', 'a\u0007'], /--site <id>'.*control characters/],
  [['run', '--server', 's1', '--site', 'x'.repeat(201)], /--site <id>'.*201 characters, at most 200/],
  [
    ['run', '--server', 's1'],
    /nothing to deploy is named: give --site ID or --app ID; `npx belay-deploy backup` makes only a backup/,
  ],
  [['run', '--site', 'a1'], /required option '-S, --server <id>'/],
  [['run', '--sever', 's1', '--site', 'a1'], /unknown option '--sever'.*--server/],
  [['run', 's1', 'a1'], /too many arguments for 'run'/],
  [['backup'], /required option '-S, --server <id>'/],
  [['deploy'], /give --site ID or --app ID/],
  [['watch'], /give --site ID or --app ID/],
  [['watch', '--site', 'a1', '--site', 'a2'], /--site <id>'.*Follow one site or app at a time/],
  [[...RUN, '--site', 'a1'], /--site <id>'.*"a1" is given twice/],
  [[...RUN, '--colour'], /unknown option '--colour'\. See `npx belay-deploy run --help`\.$/m],
  [[...RUN, '--deploy-trise', '3'], /unknown option '--deploy-trise'.*--deploy-tries/s],
  [[...RUN, 'a2'], /too many arguments/],
  [['deplyo'], /unknown command 'deplyo'.*deploy/s],
  [['help', 'nope'], /unknown command 'nope'.* See `npx belay-deploy --help`\.$/m],
  [['deplyo', '--help'], /unknown command 'deplyo' \(Did you mean deploy\?\)/],
  [['schedule', 'nope', '-h'], /unknown command 'nope'/],
  [['help', 'deplyo'], /unknown command 'deplyo' \(Did you mean deploy\?\)/],
  [
    ['rollout', 'help', 'strat'],
    /unknown command 'strat' \(Did you mean start\?\) See `npx belay-deploy rollout --help`/,
  ],
  [[...RUN, '--backup-tries', '0'], /'--backup-tries <n>'.*whole number from 1/],
  [[...RUN, '--backup-tries', '-3'], /'--backup-tries <n>'.*whole number from 1/],
  [[...RUN, '--backup-tries', '2.5'], /'--backup-tries <n>'.*whole number from 1/],
  [[...RUN, '--backup-interval', 'soon'], /'--backup-interval <duration>'.*like 500ms, 10s, 2m, 1h, 7d or 2w/],
  [[...RUN, '--deploy-interval', '-10s'], /'--deploy-interval <duration>'.*like 500ms, 10s, 2m, 1h, 7d or 2w/],
  [[...RUN, '--deploy-interval', '0'], /'--deploy-interval <duration>'.*10ms to 24h/],
  [[...RUN, '--settle', '10 minutes'], /'--settle <duration>'.*like 500ms/],
  [[...RUN, '--baseline-wait', 'NaN'], /'--baseline-wait <duration>'/],
  [[...RUN, '--busy-timeout', '13h'], /'--busy-timeout <duration>'.*from 0ms to 12h/],
  [[...RUN, '--start-within', '0'], /'--start-within <duration>'.*from 1ms/],
  [[...RUN, '--wait-timeout', '600h'], /'--wait-timeout <duration>'.*to 596h/],
  [['list', '--since', '100000000h'], /'--since <duration>'.*to 3650d/],
  [[...RUN, '--min-evidence', 'hearsay'], /'--min-evidence <choice>'.*identity, transition, changed, settled/],
  [[...RUN, '--if-busy', 'perhaps'], /'--if-busy <choice>'.*wait, fail/],
  [[...RUN, '--on-ambiguous', 'guess'], /'--on-ambiguous <choice>'.*resend, stop/],
  [[...RUN, '--meta', 'nothing'], /--meta <name=value>'.*Write name=value/],
  [[...RUN, '--meta', 'a=1', '--meta', 'a=2'], /"a" is given twice/],
  [[...RUN, '--key', ''], /--key <key>'.*is empty/],
  [[...RUN, '--again'], /--again.*--key/],
  [[...RUN, '--max-backup-age', '1h', '--backup-id', 'b-1'], /'--backup-id <id>'.*'--max-backup-age <duration>'/],
  [[...RUN, '--detach', '--wait-timeout', '1m'], /'--wait-timeout <duration>'.*--detach'/],
  [[...RUN, '--detach', '--cancel-on-interrupt'], /'--cancel-on-interrupt'.*--detach'/],
  [['wait'], /missing required argument 'workflowId'/],
  [['wait', ''], /workflowId.*is empty/],
  [['status', 'a', 'b'], /too many arguments/],
  [['status', 'deploy:1:x', '--run-id', 'latest'], /'--run-id <id>'.*"latest" is not a run id\. It is a UUID/],
  [['rollout', 'pause', 'rollout:a:b', '--reason', ' '], /'--reason <text>'.*It is empty/],
  [['schedule', 'pause', 'belay:a:b', '--reason', ''], /'--reason <text>'.*It is empty/],
  [['freeze', '--for', '1h', '--reason', ''], /'--reason <text>'.*It is empty/],
  [['freeze', '--for', '1h', '--reason', 'x', '--by', ''], /'--by <name>'.*It is empty/],
  [['reject', 'deploy:1:x', '--reason', ''], /'--reason <text>'.*It is empty/],
  [['approve', 'deploy:1:x', '--by', ''], /'--by <name>'.*It is empty/],
  [[...RUN, '--override-freeze', 'x', '--reason', ''], /'--reason <text>'.*It is empty/],
  [['cancel'], /missing required argument 'workflowId'/],
  [['list', '--limit', '0'], /'--limit <n>'.*from 1 to 1000/],
  [['list', '--since', 'yesterday'], /'--since <duration>'/],
  [['list', '--outcome', 'fine'], /'--outcome <outcome>'/],
  [['doctor', '--fixx'], /unknown option '--fixx'/],
  [['schedule', 'pause', '--fixx'], /See `npx belay-deploy schedule pause --help`\.$/m],
  [['dev', '--ui-port', '70000'], /'--ui-port <port>'.*0 to 65535/],
  [['demo', 'now'], /too many arguments/],
  [['worker', '--fast'], /unknown option '--fast'/],
  [['sandbox', '--port', 'x'], /'--port <port>'.*0 to 65535/],
];

describe('bad input', { concurrency: 4 }, () => {
  for (const [args, says] of BAD) {
    test(`${JSON.stringify(args.map((arg) => arg.slice(0, 20)))} exits 2 with one line that names the problem`, async () => {
      const { code, stdout, stderr } = await on.belay(...args);
      assert.equal(code, 2, stderr);
      assert.match(stderr, says);
      assert.match(stderr, /^belay: [^\n]*\n$/, 'one line');
      assert.equal(stdout, '');
    });
  }

  for (const command of ['worker', 'dev', 'doctor']) {
    const bad: [env: Record<string, string>, says: RegExp][] = [
      [{ BELAY_API_URL: 'service', BELAY_API_TOKEN: TOKEN }, /BELAY_API_URL is not a URL: give one like https:/],
      [{ BELAY_API_URL: 'ftp://host', BELAY_API_TOKEN: TOKEN }, /BELAY_API_URL must begin with https:/],
      [{ BELAY_API_URL: 'http://host', BELAY_API_TOKEN: TOKEN }, /unencrypted: use https, or set BELAY_ALLOW_HTTP=1/],
      [{ BELAY_API_URL: 'https://host/v1', BELAY_API_TOKEN: TOKEN }, /must not end in \/v1/],
      [{ BELAY_API_URL: 'https://host' }, /no API token: set BELAY_API_TOKEN or BELAY_API_TOKEN_FILE/],
      [
        { BELAY_API_URL: 'https://host', BELAY_API_TOKEN_FILE: '/missing' },
        /\/missing cannot be read \(ENOENT\): create it/,
      ],
      [
        { BELAY_API_URL: 'https://host', BELAY_API_TOKEN: TOKEN, BELAY_API_TOKEN_FILE: '/f' },
        /BELAY_API_TOKEN and BELAY_API_TOKEN_FILE are both set: unset one/,
      ],
    ];
    // They read the same settings, and only a worker is asked about every mistake.
    for (const [env, says] of command === 'worker' ? bad : bad.slice(0, 1)) {
      test(`${command} with ${JSON.stringify(env).replaceAll(TOKEN, '…')} exits 2 and names the problem`, async () => {
        const home = { BELAY_HOME: join(await tempFolder(), 'home') };
        // In this process, doctor would wait long for a Temporal server.
        const asked = command === 'doctor' ? run : runInProcess;
        const { code, stdout, stderr } = await asked([command], { ...home, ...env });
        assert.equal(code, 2, stderr);
        assert.match(command === 'doctor' ? stdout : stderr, says);
        if (command !== 'doctor') assert.match(stderr, /^belay: [^\n]*\n$/, 'one line');
        assert.ok(!(stdout + stderr).includes(TOKEN));
      });
    }
  }

  test('worker without BELAY_API_URL exits 2', async () => {
    const { code, stderr } = await runInProcess(['worker']);
    assert.equal(code, 2);
    assert.match(stderr, /^belay: BELAY_API_URL is not set: give the base URL[^\n]*\n$/);
  });

  test('a sandbox whose port is taken exits 2 with a remedy', async () => {
    const { port } = new URL(on.sandbox.url);
    const { code, stderr } = await runInProcess(['sandbox', '--port', port]);
    const message = `port ${port} is in use: choose another one with --port, or 0 for any free port`;
    assert.deepEqual([code, stderr], [2, `belay: ${message}\n`]);
  });

  test('belay without a command exits 2 and prints the help on stderr', async () => {
    const { code, stdout, stderr } = await on.belay();
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /Usage: belay/);
  });
});

test('bad input starts no run and sends no POST', async () => {
  assert.equal((await on.belay('list')).stdout, 'no runs\n');
  assert.deepEqual(
    on.sandbox.journal.filter(({ request }) => request.startsWith('POST')),
    [],
  );
});

test('bad input with --json prints one JSON document on stdout and nothing on stderr', async () => {
  const { code, json, stderr } = await on.belay(...RUN, '--settle', 'x', '--json');
  assert.deepEqual([code, json().outcome, json().error?.type, stderr], [2, null, 'Usage', '']);
});

test('a namespace that does not exist is a usage error with its remedy, and doctor names it once', async () => {
  const env = { ...on.env, TEMPORAL_NAMESPACE: 'nope' };
  for (const args of [['list'], ['status', 'deploy:1:x'], ['top'], ['schedule', 'list'], ['deploy', '--site', 'a1']]) {
    const { code, stderr } = await runInProcess(args, env);
    assert.equal(code, 2, `${args.join(' ')}: ${stderr}`);
    assert.match(stderr, /^belay: [^\n]*[Nn]amespace[^\n]*nope[^\n]*: check TEMPORAL_NAMESPACE[^\n]*\n$/);
  }
  const { code, stdout } = await runInProcess(['doctor'], env);
  assert.equal(code, 2);
  assert.equal(stdout.match(/not found/gi)?.length, 1, stdout);
  assert.match(stdout, /check TEMPORAL_NAMESPACE/);
});

test('a library connection that was closed says so', async () => {
  const { TEMPORAL_ADDRESS = '' } = on.env;
  const belay = await connect({ address: TEMPORAL_ADDRESS });
  await belay.close();
  await assert.rejects(belay.list(), { type: 'Usage', message: /the connection was closed: connect again/ });
  await assert.rejects(belay.start({ siteIds: ['a1'] }), { type: 'Usage', message: /the connection was closed/ });
});
