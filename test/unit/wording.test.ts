/** Sentences that people read: numbers with their nouns, sums of durations, and what a run was held back by. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { FrozenBy, Held } from '../../src/features/freezes/shapes.ts';
import { totalText } from '../../src/contract/duration.ts';
import { waitingSentence } from '../../src/contract/explain-wait.ts';
import { heldText, letOffText } from '../../src/features/freezes/text.ts';
import { counted } from '../../src/contract/results.ts';
import { rolloutStartOptions } from '../../src/request/rollout-start-options.ts';
import { triesFact } from '../../src/request/run-details.ts';
import { MARKDOWN } from '../../src/workflows/ui.ts';

const FREEZE: FrozenBy = {
  ...{ kind: 'freeze', name: 'freeze:site:37', reason: 'sale', until: '2026-12-01T00:00:00Z', untilText: 'Tuesday' },
};

describe('a gate in the story of a rollout', () => {
  const gate = (part: Partial<Held>): string =>
    heldText({
      for: 'gate',
      name: 'errors',
      from: '',
      to: null,
      end: null,
      by: null,
      why: 'after wave canary',
      ...part,
    });

  for (const [end, text] of [
    [null, 'gate "errors": has not passed after wave "canary"'],
    ['passed', 'gate "errors": passed after wave "canary"'],
    ['failed', 'gate "errors": failed after wave "canary"'],
    ['gave_up', 'gate "errors": stayed inconclusive after wave "canary"'],
  ] as const)
    test(`reads as a sentence if its end is ${end}`, () => assert.equal(gate({ end }), text));

  test('names who overrode it, and why', () =>
    assert.equal(
      gate({ end: 'overridden', by: 'ana', why: 'errors are known' }),
      'gate "errors": overridden by "ana" because "errors are known"',
    ));
});

test('an approval that no one gave in time reads as a sentence', () =>
  assert.equal(
    heldText({
      for: 'approval',
      name: 'boss',
      from: '',
      to: null,
      end: 'gave_up',
      by: null,
      why: '1 approval is needed',
    }),
    'approval "boss": was not given in time, 1 approval is needed',
  ));

test('an approval quotes only what a person said', () => {
  const held = { for: 'approval', name: 'boss', from: '', to: null, end: null, by: null, why: '' } as const;
  const text = (part: Partial<Held>): string => heldText({ ...held, ...part });
  const proof = 'SHA256:x';
  assert.deepEqual(
    [
      text({ why: '2 approvals are needed' }),
      text({ end: 'approved', by: 'ana', proof, why: 'no reason given' }),
      text({ end: 'approved', by: 'ana', proof, why: 'lgtm' }),
      text({ end: 'gave_up', by: 'ana', proof, why: 'no reason given' }),
    ],
    [
      'approval "boss": still open, 2 approvals are needed',
      'approval "boss": was approved by "ana" ("SHA256:x"), no reason given',
      'approval "boss": was approved by "ana" ("SHA256:x"), "lgtm"',
      'approval "boss": was not given in time, only by "ana" ("SHA256:x"), no reason given',
    ],
  );
});

test('options to copy are a code span in Markdown, which would make one dash of two', () => {
  const waiting = { kind: 'freeze' as const, by: [FREEZE], since: '', nextLookAt: '' };
  assert.ok(waitingSentence(waiting, null, MARKDOWN).endsWith('start again with `--override-freeze freeze:site:37`'));
  assert.equal(letOffText([FREEZE]), ', or start again with --override-freeze freeze:site:37');
});

test('one of something is not named in the plural', () => {
  assert.deepEqual(
    [0, 1, 2].map((it) => counted(it, 'server')),
    ['0 servers', '1 server', '2 servers'],
  );
  const input = { name: 'r', fleet: 'f', key: 'k', maxAtOnce: 1, maxFailures: 0, onFailures: 'stop' } as const;
  const waves = [{ name: 'all', targets: [{ serverId: '12', siteIds: ['34'] }] }];
  const { staticSummary } = rolloutStartOptions({ ...input, waves }, { startedBy: 'me' });
  assert.equal(staticSummary, 'Roll r out to 1 server with 1 site');
});

test('the sums of two budgets are in the same units', () => {
  const sums = [15_000, 10_000, 5_000].map((intervalMs) => triesFact({ tries: 12, intervalMs }));
  assert.deepEqual(
    sums.map((it) => it.split(': ')[1]),
    ['3m in all', '2m in all', '1m in all'],
  );
  assert.deepEqual([90_000, 150_000, 300, 7_500_000].map(totalText), ['1m30s', '2m30s', '300ms', '2h05m']);
});
