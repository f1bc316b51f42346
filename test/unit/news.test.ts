/** What a command that waits prints without a terminal, and what it says of a key that was used before. */
import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { runMarkdown } from '../../src/cli/markdown-summary.ts';
import { contactText, createNewsFilter, followLive } from '../../src/cli/follow.ts';
import { captureSignals } from '../../src/cli/wait-for-verdict.ts';
import { installSignalHandlers } from '../../src/process/signals.ts';
import { resultLines } from '../../src/cli/run-text.ts';
import { rolloutLines, viewOfRollout } from '../../src/features/rollouts/actions-show.ts';
import { BelayError } from '../../src/contract/errors.ts';
import type { Outcome } from '../../src/contract/names.ts';
import { siteTarget } from '../../src/contract/target.ts';
import type { Belay, Rollout, Run } from '../../src/starter.ts';
import { TIMING } from '../../src/contract/timing.ts';
import { emptyDeployment, emptyResult, emptyRollout } from '../../src/contract/results.ts';

test('a line of a log is printed if it is news, and again after five minutes without news', () => {
  let nowMs = 0;
  const isNews = createNewsFilter(() => nowMs);
  const after = (ms: number, line: string) => {
    nowMs += ms;
    return isNews(line);
  };
  assert.deepEqual([after(0, 'waits'), after(3_000, 'waits'), after(3_000, 'deploys')], [true, false, true]);
  assert.deepEqual([after(TIMING.cli.repeatMs - 1, 'deploys'), after(1, 'deploys')], [false, true]);
  assert.equal(after(3_000, 'deploys'), false);
  assert.ok(TIMING.cli.repeatMs < 10 * 60_000, 'CI would end the job');
});

test('who waits reads that Temporal does not answer, and nothing of another failed look', async () => {
  const printedAfter = async (error: Error) => {
    const stream = new PassThrough();
    const run = { progress: () => Promise.reject(error) } as unknown as Run;
    const following = followLive(run, { stream: stream as unknown as NodeJS.WriteStream });
    await setImmediate();
    following.stop();
    return String(stream.read() ?? '');
  };
  const away = new BelayError('TemporalUnreachable', 'cannot read run:1: Temporal does not answer');
  assert.equal(await printedAfter(away), 'Temporal does not answer: still trying\n');
  assert.equal(await printedAfter(new BelayError('NotFound', 'there is no run:1')), '');
});

test('a wait for a rollout prints the same line while Temporal does not answer', async () => {
  const stream = new PassThrough();
  const away = new BelayError('TemporalUnreachable', 'cannot read rollout:1: Temporal does not answer');
  const rollout = { status: () => Promise.reject(away) } as unknown as Rollout;
  const view = viewOfRollout({} as Belay, rollout, stream as unknown as NodeJS.WriteStream);
  const following = view.showProgress();
  await setImmediate();
  following.stop(emptyRollout());
  assert.equal(String(stream.read()), 'Temporal does not answer: still trying\n');
});

test('a rollout that only another build may continue is called a rollout', () => {
  const status = { contact: 'unserved', version: { deploymentName: 'belay', buildId: 'a' } } as const;
  assert.match(contactText(status, 'rollout') ?? '', /^only workers of build belay:a may continue the rollout, /);
  assert.match(contactText(status) ?? '', /^only workers of build belay:a may continue the run, /);
});

test('an interrupt with --cancel-on-interrupt says what it cancels', async () => {
  if (process.listenerCount('SIGINT') === 0) installSignalHandlers();
  const { stderr } = process;
  const write = stderr.write.bind(stderr);
  const printed: string[] = [];
  stderr.write = (text: string | Uint8Array) => printed.push(String(text)) > 0;
  const stopping = captureSignals({ cancelOnInterrupt: true });
  try {
    const cancelled = new Promise<boolean>((resolve) => {
      const cancel = () => Promise.resolve(true).finally(() => resolve(true));
      stopping.apply({ cancel }, 'rollout');
    });
    process.emit('SIGINT');
    assert.ok(await cancelled);
    assert.match(printed.join(''), /^Cancelling the rollout\./);
  } finally {
    stopping.end();
    stderr.write = write;
  }
});

test('the result of a run and of a rollout say how long it took as lists do', () => {
  const took = {
    outcome: 'completed',
    startedAt: '2026-11-26T10:00:00.000Z',
    endedAt: '2026-11-26T10:01:05.000Z',
  } as const;
  assert.equal(stripVTControlCharacters(resultLines(emptyResult(took))[0]!), 'completed in 1m05s');
  assert.equal(stripVTControlCharacters(rolloutLines(emptyRollout(took))[0]!), 'completed in 1m05s');
});

test('a part of a closed run without an outcome is not called one that has none yet', () => {
  const deployment = emptyDeployment(siteTarget('34'));
  const text = (outcome: Outcome | null) => resultLines(emptyResult({ outcome, deployments: [deployment] })).join();
  assert.match(text(null), /deployment of 34: no outcome yet/);
  assert.match(text('unknown'), /deployment of 34: outcome not recorded/);
  assert.match(
    runMarkdown(emptyResult({ outcome: 'unknown', deployments: [deployment] })),
    /\| outcome not recorded \|/,
  );
});

test('a summary says that a run was started by an earlier command, and when it ended', () => {
  const result = emptyResult({ workflowId: 'w', outcome: 'completed', endedAt: '2026-11-26T10:00:00.000Z' });
  assert.doesNotMatch(runMarkdown(result), /earlier command/);
  const joined = runMarkdown({ ...result, attached: true });
  assert.match(joined, /Started by an earlier command, ended at 2026-11-26T10:00:00.000Z: this one started nothing\./);
});
