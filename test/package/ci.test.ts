import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { runGithubAction, runGithubStep, runGitlabJob } from '../support/ci-jobs.ts';
import type { CommandLine } from '../support/command-line.ts';
import { eventually } from '../support/eventually.ts';
import { CLI, environment } from '../support/processes.ts';
import { ROOT } from '../support/readme.ts';
import { tempFolder } from '../support/temporal.ts';
import { fresh } from '../support/world.ts';
import { devStack } from './stack.ts';

let on: CommandLine;
before(async () => {
  on = await devStack();
});

const RUNNERS = [
  { name: 'the GitHub Action', run: runGithubAction, key: '4711-release-__belay_2' },
  { name: 'the GitLab template', run: runGitlabJob, key: '4711-belay' },
];

describe('a CI job with a running Temporal', { concurrency: true }, () => {
  for (const { name, run, key } of RUNNERS) {
    test(`${name} deploys, and gets the outcome, the link and the summary; run again, it gets the same run`, async () => {
      const [server, site] = [fresh('s'), fresh('a')];
      const options = '--backup-interval=200ms\n--deploy-interval=200ms\n--deploy-tries=2000\n';
      const first = await run(CLI, { server, sites: site, options }, on.env);
      assert.equal(first.code, 0, first.log);
      const [outcome, workflowId, runId = '', link = ''] = Object.values(first.outputs);
      assert.deepEqual([outcome, workflowId], ['completed', `backup-then-deploy:${server}:${key}`]);
      assert.ok(link.includes(runId), link);
      assert.match(first.summary, new RegExp(`^### Belay: \`${workflowId}\``));
      const again = await run(CLI, { server, sites: site, options }, on.env);
      assert.deepEqual(again.outputs, first.outputs);
    });
  }

  test('a cancelled job of GitHub ends the waiting, and its last step cancels the run that it started', async () => {
    const [server, site] = [fresh('s'), fresh('a')];
    on.sandbox.script({ server }, { durationMs: 600_000, ends: 'completed' });
    const stop = new AbortController();
    const inputs = { server, sites: site, 'cancel-with-job': 'true' };
    const running = runGithubStep(CLI, inputs, on.env, stop.signal);
    const workflowId = `backup-then-deploy:${server}:4711-release-__belay_2`;
    await eventually('the backup', async () =>
      on.sandbox.journal.some(({ request }) => request.includes(`/${server}/`)),
    );
    stop.abort();
    const { code, outputs, afterwards } = await running;
    assert.deepEqual([code, outputs['workflow-id'], outputs.outcome], [130, workflowId, '']);
    const { log } = await afterwards();
    assert.match(log, /cancel/);
  });

  test('a step as the page about CI has it cancels its run, although the runner signals its shell only', async () => {
    const page = readFileSync(new URL('docs/how-to/ci.md', ROOT), 'utf8');
    const [, command = ''] = /`run: (.+ belay-deploy) …`/.exec(page) ?? [];
    const server = fresh('s');
    on.sandbox.script({ server }, { ends: 'never' });
    const step = await startStep(`${command} backup --server ${server} --key k --cancel-on-interrupt`);
    try {
      await eventually('the backup', () =>
        on.sandbox.journal.some(({ request }) => request.includes(`/${server}/backups`)),
      );
      // The runner waits after each of them.
      for (const signal of ['SIGINT', 'SIGTERM'] as const) step.shell.kill(signal);
      await eventually('the cancellation', () => step.output().includes('Cancelling the run'), LOOKS);
      const { json } = await on.belay('wait', `backup:${server}:k`, '--json');
      assert.equal(json().outcome, 'cancelled');
    } finally {
      await step.end();
    }
  });
});

/** A step that never hears of the signals shall not hold the test up for long. */
const LOOKS = 60;

/** Runs a script as GitHub does, in a shell of its own that reads it from a file. */
async function startStep(script: string) {
  const folder = await tempFolder();
  const bin = join(folder, 'node_modules', '.bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "name": "release", "private": true }');
  const program = `#!/bin/sh\nexec "${process.execPath}" "${CLI}" "$@"\n`;
  writeFileSync(join(bin, 'belay-deploy'), program, { mode: 0o755 });
  writeFileSync(join(folder, 'step.sh'), `${script}\n`);
  const shell = spawn('bash', ['-e', 'step.sh'], {
    cwd: folder,
    env: environment(on.env),
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let output = '';
  shell.stderr.on('data', (data: Buffer) => (output += data.toString()));
  const closed = once(shell, 'close');
  return {
    shell,
    output: () => output,
    /** Ends whatever the shell left behind. */
    async end() {
      try {
        process.kill(-shell.pid!, 'SIGKILL');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
      await closed;
    },
  };
}
