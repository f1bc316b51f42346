import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { runGithubAction, runGithubStep, runGitlabJob } from '../support/ci-jobs.ts';
import type { CommandLine } from '../support/command-line.ts';
import { eventually } from '../support/eventually.ts';
import { CLI } from '../support/processes.ts';
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
});
