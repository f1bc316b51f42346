import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { textOf } from '../../src/features/notifications/worker-channels.ts';
import { emptyResult, emptyRollout, countOutcomes } from '../../src/contract/results.ts';
import { approvalSentence, fewPartLines, partLines } from '../../src/features/approvals/text.ts';
import { siteTarget } from '../../src/contract/target.ts';
import type { BackupResult, DeploymentResult } from '../../src/contract/run.ts';

test('a question in a chat has every fact, and names so many sites and how many more there are', () => {
  const parts = ['s1', 's2'].map((serverId) => ({
    serverId,
    targets: Array.from({ length: 3 }, (_, index) => siteTarget(`${serverId}-${index}`)),
  }));
  assert.deepEqual(fewPartLines(parts, 4), ['  server s1: s1-0, s1-1, s1-2', '  server s2: s2-0', '  and 2 more']);
  assert.deepEqual(fewPartLines(parts, 6), partLines(parts));
  assert.deepEqual(fewPartLines([...parts, { serverId: 's3', targets: [] }], 6).at(-1), '  and 1 more');
  const facts = Array.from({ length: 12 }, (_, index) => `fact ${index}`);
  const about = { id: '', about: 'asked' as const, workflowId: '', runId: '', links: { ui: 'https://ui' } };
  const shown = textOf({ kind: 'approval', ...about, sentence: 'waits', text: facts.join('\n') });
  assert.deepEqual(shown.split('\n'), ['waits', ...facts, 'https://ui']);
});

test('a question in a chat ends with its whole command, however long the id is', () => {
  const about = { id: '', about: 'asked' as const, workflowId: '', runId: '', links: { ui: null }, text: '' };
  const sentence = `${'r'.repeat(200)} waits: \`belay approve ${'r'.repeat(200)} --plan 9f2c1ab4d0e1\``;
  assert.match(textOf({ kind: 'approval', ...about, sentence }), /--plan 9f2c1ab4d0e1`$/);
});

test('a question that has every answer it needs says that it continues, not that it waits', () => {
  const rule = { name: 'production', need: 1, proof: 'ssh' as const, from: null };
  const question = { workflowId: 'deploy:1:k', plan: '9f2c1ab4d0e1aa', until: '2026-11-28T04:00:00.000Z' };
  const sentenceAfter = (by: string[]) => approvalSentence({ ...question, asked: [{ ...rule, by }] });
  assert.match(
    sentenceAfter([]),
    /^waits for 1 approval \(production\) until .*: `belay approve deploy:1:k --plan \w{12}`$/,
  );
  assert.equal(sentenceAfter(['ana']), 'was approved, and continues');
});

/** What Slack would show as mentions, links and other signs. */
const MARKUP = ['<!channel> & <http://x|y>', '<', '&lt;', '\n>', '<!here|<@U1>'];

test('property: outside text never produces markup', () => {
  const any = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...MARKUP));
  const texts = fc.array(any, { maxLength: 20 });
  const property = fc.property(texts, ([rawKind = '', serverId = '', siteId = '', message = '', ...sites]) => {
    const event = { kind: 'unknown' as const, rawKind, serverId, siteId, backupId: message, at: rawKind };
    const about = { id: '', source: message, receivedAt: '', verified: false, event };
    const backup = { serverId } as BackupResult;
    const deployments = sites.map((id) => ({ target: { kind: 'site', id } }) as DeploymentResult);
    const parts = { workflowId: siteId, error: { type: 'Internal' as const, message }, backup, deployments };
    const run = textOf({ kind: 'run', leftOut: 0, id: '', result: { ...emptyResult(), ...parts } });
    assert.doesNotMatch(run + textOf({ kind: 'event', ...about }), /[<>]|&(?!(amp|lt|gt);)/);
  });
  fc.assert(property, { numRuns: 1_000 });
});

const plain = (text: string): string => text;

test('the message about a failed rollout says what it counts, and the command that retries it', () => {
  const servers = countOutcomes([
    { outcome: 'failed', isRunning: false },
    { outcome: 'completed', isRunning: false },
  ]);
  const result = emptyRollout({ workflowId: 'rollout:steady:k1', outcome: 'failed', phase: 'done', servers });
  const text = textOf({ kind: 'rollout', id: '', leftOut: 0, result }, plain);
  assert.deepEqual(text.split('\n'), [
    'failed: rollout:steady:k1: servers: 1 failed, 1 completed',
    'retry: npx belay-deploy rollout retry rollout:steady:k1',
  ]);
});

test('the message about an end that pauses its schedule says so, with the command that resumes it', () => {
  const result = emptyRollout({ workflowId: 'rollout:steady:k1', outcome: 'failed', phase: 'done' });
  const paused = textOf({ kind: 'rollout', id: '', leftOut: 0, result, pausesSchedule: 'belay:prod:night' }, plain);
  const expected = 'this pauses its schedule; resume it: npx belay-deploy schedule resume belay:prod:night';
  assert.equal(paused.split('\n').at(-1), expected);
  const run = emptyResult({ workflowId: 'backup:7:k', outcome: 'failed', phase: 'done' });
  assert.equal(
    textOf({ kind: 'run', id: '', leftOut: 0, result: run, pausesSchedule: 'belay:prod:night' }, plain)
      .split('\n')
      .at(-1),
    expected,
  );
});

test('the message about a paused rollout has the commands that resume and abort it', () => {
  const result = emptyRollout({ workflowId: 'rollout:steady:k1', phase: 'paused' });
  const [, ...commands] = textOf({ kind: 'rollout', id: '', leftOut: 0, result }, plain).split('\n');
  assert.deepEqual(commands, [
    'resume: npx belay-deploy rollout resume rollout:steady:k1 --reason TEXT',
    'abort: npx belay-deploy rollout abort rollout:steady:k1 --reason TEXT',
  ]);
});
