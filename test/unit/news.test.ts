/** What a command that waits prints without a terminal, and what it says of a key that was used before. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runMarkdown } from '../../src/cli/markdown-summary.ts';
import { createNews } from '../../src/cli/follow.ts';
import { TIMING } from '../../src/contract/timing.ts';
import { emptyResult } from '../../src/contract/results.ts';

test('a line of a log is printed if it is news, and again after five minutes without news', () => {
  let nowMs = 0;
  const isNews = createNews(() => nowMs);
  const after = (ms: number, line: string) => {
    nowMs += ms;
    return isNews(line);
  };
  assert.deepEqual([after(0, 'waits'), after(3_000, 'waits'), after(3_000, 'deploys')], [true, false, true]);
  assert.deepEqual([after(TIMING.cli.repeatMs - 1, 'deploys'), after(1, 'deploys')], [false, true]);
  assert.equal(after(3_000, 'deploys'), false);
  assert.ok(TIMING.cli.repeatMs < 10 * 60_000, 'CI would end the job');
});

test('a summary says that a run was started by an earlier command, and when it ended', () => {
  const result = emptyResult({ workflowId: 'w', outcome: 'completed', endedAt: '2026-11-26T10:00:00.000Z' });
  assert.doesNotMatch(runMarkdown(result), /earlier command/);
  const joined = runMarkdown({ ...result, attached: true });
  assert.match(joined, /Started by an earlier command, ended at 2026-11-26T10:00:00.000Z: this one started nothing\./);
});
