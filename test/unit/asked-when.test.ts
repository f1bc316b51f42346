import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { askedWhen } from '../../src/features/approvals/rules.ts';

describe('an approval of a rollout', () => {
  const wave = (name: string, needed: string[], named?: string) => ({ wave: name, needed, named });

  for (const [what, named, waves, before, ofWaves] of [
    [
      'is asked for before the first server if servers need it',
      undefined,
      [wave('a', ['p']), wave('b', ['p'])],
      ['p'],
      [],
    ],
    ['is asked for before the first server if the rollout names it', 'p', [wave('a', [])], ['p'], []],
    ['is asked for before the wave that names it', undefined, [wave('a', []), wave('b', ['p'], 'p')], [], ['b: p']],
    [
      'is asked for twice if other waves need it too',
      undefined,
      [wave('a', ['p']), wave('b', [], 'p')],
      ['p'],
      ['b: p'],
    ],
    ['is asked for twice if both name it', 'p', [wave('a', ['p'], 'p')], ['p'], ['a: p']],
    ['is asked for like the others that the rollout names', ['n', 'm'], [wave('a', ['p'])], ['p', 'n', 'm'], []],
    ['comes after those that servers need if the rollout names it', 'n', [wave('a', ['p', 'q'])], ['p', 'q', 'n'], []],
  ] as const) {
    test(what, () => {
      const asked = askedWhen(named, waves);
      assert.deepEqual(asked.before, before);
      assert.deepEqual(
        asked.ofWaves.map((it) => `${it.wave}: ${it.name}`),
        ofWaves,
      );
    });
  }
});
