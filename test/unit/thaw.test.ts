/** When what waits for freezes looks again, gives up and goes on. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { FrozenBy, FrozenParts } from '../../src/features/freezes/shapes.ts';
import { siteTarget } from '../../src/contract/target.ts';
import { TIMING } from '../../src/contract/timing.ts';
import { heldPart, nextLookMs, outlasts, spreadOf, thawsAtMs } from '../../src/features/freezes/rules.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NOW = Date.parse('2026-12-01T12:00:00Z');

const until = (ms: number | null): FrozenBy => ({
  ...{ kind: 'freeze', name: 'stock', reason: 'inventory', untilText: '' },
  until: ms === null ? null : new Date(ms).toISOString(),
});

describe('what is frozen twice', () => {
  test('thaws with the last of both', () => {
    assert.equal(thawsAtMs([until(NOW + HOUR), until(NOW + 2 * HOUR)]), NOW + 2 * HOUR);
  });

  test('thaws at no known time if the end of one is not known', () => {
    assert.equal(thawsAtMs([until(NOW + HOUR), until(null)]), null);
  });
});

describe('the next look', () => {
  const next = (by: FrozenBy[], spentMs = 0, endsMs = NOW + 12 * HOUR) => nextLookMs(by, NOW, spentMs, endsMs) - NOW;

  test('comes every five minutes in the first hour, and every half an hour after that', () => {
    assert.deepEqual([next([until(null)]), next([until(null)], HOUR)], [5 * MINUTE, 30 * MINUTE]);
  });

  test('comes at the end of the freeze, and when the wait ends, if that is sooner', () => {
    assert.equal(next([until(NOW + 2 * MINUTE)]), 2 * MINUTE);
    assert.equal(next([until(null)], 0, NOW + MINUTE), MINUTE);
  });

  test('never comes at once, also if clocks differ', () => {
    assert.equal(next([until(NOW - MINUTE)]), 1_000);
  });
});

describe('a wait', () => {
  test('is given up once a known end is later than it', () => {
    const endsMs = NOW + HOUR;
    assert.deepEqual(
      [endsMs, endsMs + 1].map((ms) => outlasts([until(ms)], NOW, endsMs)),
      [false, true],
    );
  });

  test('is given up when it is over, if no end is known', () => {
    assert.deepEqual(
      [NOW, NOW + 1].map((endsMs) => outlasts([until(null)], NOW, endsMs)),
      [true, false],
    );
  });
});

test('200 runs that waited for the same freeze go on within a minute, and at most 15 of them in one second', () => {
  const spreads = Array.from({ length: 200 }, (_, index) => spreadOf(`backup-then-deploy:${index}:nightly`));
  assert.ok(Math.min(...spreads) >= 1_000 && Math.max(...spreads) <= TIMING.freeze.spreadMs);
  const inSecond = new Map<number, number>();
  for (const ms of spreads) inSecond.set(Math.floor(ms / 1_000), (inSecond.get(Math.floor(ms / 1_000)) ?? 0) + 1);
  assert.ok(Math.max(...inSecond.values()) <= 15, JSON.stringify([...inSecond.values()]));
});

describe('what holds a run back', () => {
  const [first, second] = [siteTarget('34'), siteTarget('35')];
  const by = [until(NOW)];
  const what = (frozen: Partial<FrozenParts>, mayPass = false) =>
    heldPart({ backup: [], deployments: [], ...frozen }, { serverId: '12', targets: [first, second] }, mayPass)?.what;

  for (const [name, frozen, expected] of [
    ['its backup', { backup: by }, ['server 12 was not backed up', 'server 12 was not backed up']],
    [
      'its first target, unless it may pass it',
      { deployments: [{ target: first, by }] },
      ['site 34 was not deployed', undefined],
    ],
    ['no later target', { deployments: [{ target: second, by }] }, [undefined, undefined]],
    [
      'all of its targets',
      { deployments: [first, second].map((target) => ({ target, by })) },
      ['site 34 was not deployed', 'site 34 was not deployed'],
    ],
    ['nothing', {}, [undefined, undefined]],
  ] as [string, Partial<FrozenParts>, (string | undefined)[]][]) {
    test(`is ${name}`, () => {
      assert.deepEqual([what(frozen), what(frozen, true)], expected);
    });
  }
});
