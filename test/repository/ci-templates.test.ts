/** The GitHub Action and the GitLab template: what a job passes to Belay, and what it gets back. */
import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import {
  ACTION,
  GITLAB_INPUTS,
  GITLAB_JOB,
  runGithubAction,
  runGithubStep,
  runGitlabJob,
  type Inputs,
} from '../support/ci-jobs.ts';
import { CLI } from '../support/processes.ts';
import { tempFolder } from '../support/temporal.ts';

/** Writes its arguments to a file, prints a result and exits with a verdict. */
const recorder = (attached: boolean) => `
const [command, ...args] = process.argv.slice(2);
require('fs').writeFileSync(command === 'cancel' ? 'cancelled.json' : 'arguments.json', JSON.stringify([command, ...args]));
const ids = { workflowId: 'w:1', runId: 'r-1', attached: ${attached} };
if (command !== 'cancel') console.log(JSON.stringify({ outcome: 'timed_out', ...ids, links: { ui: 'http://ui/w' } }));
process.exit(3);
`;

const HOSTILE = [
  '$(touch ran)',
  '`touch ran`',
  '"; touch ran; "',
  "'; touch ran; '",
  '${{ touch }}',
  '--detach',
  '\\',
  '*',
];

interface Refusal {
  what: string;
  given: [inputs: Inputs, env?: Inputs];
  code: number;
  says: RegExp;
}

const REJECTED: Refusal = {
  what: 'rejects a command',
  given: [{ server: '$(touch ran)' }],
  code: 2,
  says: /"type":"Usage","message":"nothing to deploy is named/,
};
const UNREACHABLE: Refusal = {
  what: 'cannot reach Temporal',
  given: [{ server: '12', sites: '34' }, { TEMPORAL_ADDRESS: '127.0.0.1:1' }],
  code: 7,
  says: /"type":"TemporalUnreachable"/,
};

const RUNNERS = [
  { name: 'the GitHub Action', run: runGithubAction, key: '4711-release-__belay_2', refusal: REJECTED },
  { name: 'the GitLab template in sh', run: runGitlabJob, key: '4711-belay', refusal: UNREACHABLE },
  {
    name: 'the GitLab template in bash',
    run: (program: string | null, inputs: Inputs, env: Inputs = {}) => runGitlabJob(program, inputs, env, 'bash'),
    key: '4711-belay',
    refusal: REJECTED,
  },
];

/** Starts a run. */
let starter: string;
/** Joins a run that another started. */
let joiner: string;
before(async () => {
  const folder = await tempFolder();
  [starter, joiner] = [join(folder, 'starter.cjs'), join(folder, 'joiner.cjs')];
  writeFileSync(starter, recorder(false));
  writeFileSync(joiner, recorder(true));
});

async function argumentsIn(folder: string, file = 'arguments.json'): Promise<string[]> {
  const { default: args } = (await import(join(folder, file), { with: { type: 'json' } })) as {
    default: string[];
  };
  return args.filter((it) => !it.startsWith('--summary='));
}

describe('a CI job', { concurrency: true }, () => {
  for (const { name, run, key, refusal } of RUNNERS) {
    describe(name, { concurrency: true }, () => {
      test('passes ids, key and options to Belay, and returns its exit code, outcome, ids and link', async () => {
        const inputs = { server: '12', sites: '34\n35\n', apps: '7', options: '--wait-timeout=20m\n--keep-going\n' };
        const { code, outputs, folder } = await run(starter, inputs);
        assert.equal(code, 3);
        const ids = ['--server=12', '--site=34', '--site=35', '--app=7'];
        assert.deepEqual(await argumentsIn(folder), [
          ...['run', '--json', `--key=${key}`, '--again', ...ids],
          ...['--wait-timeout=20m', '--keep-going'],
        ]);
        assert.deepEqual(Object.values(outputs), ['timed_out', 'w:1', 'r-1', 'http://ui/w']);
      });

      test('executes nothing that an input contains', async () => {
        const lines = HOSTILE.join('\n');
        for (const text of ['$(touch ran) `touch ran`', `"; touch ran; " '; touch ran; '`]) {
          const inputs = { command: text, server: text, key: text, sites: lines, apps: lines, options: lines };
          const { folder } = await run(starter, inputs);
          assert.deepEqual(await argumentsIn(folder), [
            ...[text, '--json', `--key=${text}`, '--again', `--server=${text}`],
            ...HOSTILE.map((it) => `--site=${it}`),
            ...HOSTILE.map((it) => `--app=${it}`),
            ...HOSTILE,
          ]);
          assert.ok(!readdirSync(folder).includes('ran'), text);
        }
      });

      // One error each: what a runner does with an error does not depend on which error it is.
      test(`passes on that Belay ${refusal.what}, without an outcome`, async () => {
        const { code, outputs, log } = await run(CLI, ...refusal.given);
        assert.deepEqual([code, Object.values(outputs)], [refusal.code, ['', '', '', '']]);
        assert.match(log, refusal.says);
      });

      test('reports no outputs if there is no program, and exits 2', async () => {
        const { code, outputs } = await run(null, { server: '12', sites: '34' });
        assert.deepEqual([code, outputs], [2, {}]);
      });
    });
  }
});

test('the GitLab template runs nothing that has another SHA-256 than the one it was told', async () => {
  for (const BELAY_CLI_SHA256 of ['0'.repeat(64), '', '$(touch ran)']) {
    const { code, log, folder } = await runGitlabJob(starter, { server: '12' }, { BELAY_CLI_SHA256 });
    assert.equal(code, 2, log);
    assert.match(log, /BELAY_CLI_SHA256/);
    assert.deepEqual(readdirSync(folder), []);
  }
});

test('the GitHub Action cancels with its job only a run that its step started, and only if it is told to', async () => {
  for (const [program, cancelWithJob, expected] of [
    [starter, 'true', true],
    [starter, 'false', false],
    [joiner, 'true', false],
  ] as const) {
    const { folder, afterwards } = await runGithubStep(program, { server: '12', 'cancel-with-job': cancelWithJob });
    const { code } = await afterwards();
    const isCancelled = readdirSync(folder).includes('cancelled.json');
    assert.deepEqual([isCancelled, code], [expected, expected ? 3 : 0]);
    if (expected) assert.deepEqual(await argumentsIn(folder, 'cancelled.json'), ['cancel', 'w:1', '--run-id=r-1']);
  }
  const { code, log } = await runGithubStep(starter, { server: '12', 'cancel-with-job': 'yes' });
  assert.equal(code, 2);
  assert.match(log, /cancel-with-job is "yes": give true or false/);
});

test('the GitHub Action cancels in the folder in which it started the run', async () => {
  const folder = await tempFolder();
  const inputs = { server: '12', 'cancel-with-job': 'true', 'working-directory': folder };
  const { afterwards } = await runGithubStep(starter, inputs);
  await afterwards();
  assert.deepEqual(await argumentsIn(folder, 'cancelled.json'), ['cancel', 'w:1', '--run-id=r-1']);
});

test('the GitHub Action passes on what is no document, without outputs and without a stack trace', async () => {
  const folder = await tempFolder();
  const [help, half, killed] = ['help.cjs', 'half.cjs', 'killed.cjs'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(help, `console.log('Usage: belay')`);
  writeFileSync(half, `process.stdout.write('{"outcome":'); process.exitCode = 5`);
  writeFileSync(killed, `process.kill(process.pid, 'SIGKILL')`);
  for (const [program, expected] of [
    [help, 0],
    [half, 5],
    [killed, 137],
  ] as const) {
    const { code, log, outputs } = await runGithubAction(program, { server: '12' });
    assert.deepEqual([code, outputs], [expected, {}]);
    assert.doesNotMatch(log, /SyntaxError|at JSON/);
  }
});

test('the GitLab template reports nothing of an earlier job in the same folder', async () => {
  const { folder, outputs } = await runGitlabJob(starter, { server: '12' });
  assert.equal(outputs.BELAY_OUTCOME, 'timed_out');
  writeFileSync(join(folder, 'belay.md'), 'of an earlier job');
  const later = await runGitlabJob(null, { server: '12' }, {}, 'sh', folder);
  assert.deepEqual([later.code, later.outputs, later.summary], [2, {}, '']);
});

test('the GitHub Action runs on Node 24, and its last step only if the job was cancelled', () => {
  const { using, main, post, 'post-if': when } = ACTION.runs;
  assert.deepEqual([using, main, post, when], ['node24', 'step.mjs', 'step.mjs', 'cancelled()']);
});

test('the GitLab template interpolates its inputs only as whole values that GitLab does not expand', () => {
  const { variables, script, after_script } = GITLAB_JOB;
  for (const line of [script, after_script].flat()) assert.doesNotMatch(line, /\$\[\[/);
  for (const { value, expand } of Object.values(variables)) {
    assert.match(value, /^\$\[\[ inputs\.[\w-]+ \]\]$/);
    assert.equal(expand, false);
  }
  const used = Object.values(variables).map(({ value }) => value.slice('$[[ inputs.'.length, -' ]]'.length));
  assert.deepEqual([...used, 'image', 'job', 'stage'].sort(), Object.keys(GITLAB_INPUTS).sort());
});

test('both take the same inputs, and report the same outputs', async () => {
  const own = { action: ['cancel-with-job', 'working-directory'], template: ['image', 'job', 'stage'] };
  const without = (names: string[], left: string[]) => names.filter((name) => !left.includes(name)).sort();
  assert.deepEqual(without(Object.keys(ACTION.inputs), own.action), without(Object.keys(GITLAB_INPUTS), own.template));
  const { outputs } = await runGitlabJob(starter, { server: '12' });
  const names = Object.keys(outputs).map((name) => name.replace('BELAY_', '').toLowerCase().replaceAll('_', '-'));
  assert.deepEqual(names, Object.keys(ACTION.outputs));
});
