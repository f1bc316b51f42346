import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Configuration } from '../../src/config/load.ts';
import { siteTarget } from '../../src/contract/target.ts';
import { firstFreezeAhead } from '../../src/features/advice/actions-ahead.ts';
import { policyOf } from '../../src/config/policy.ts';

const HOUR_MS = 3_600_000;
const NOW = Date.parse('2026-12-18T12:00:00Z');
const SEASON = { from: '2026-12-18T13:00', to: '2026-12-18T15:00', reason: 'season' };
const NIGHT = { cron: '0 11 * * *', lasts: 2 * HOUR_MS };

function found(configuration: Configuration, untilMs = NOW + 24 * HOUR_MS, letOff = new Set<string>()) {
  const next = firstFreezeAhead(policyOf(configuration), [{ target: siteTarget('34') }], {
    nowMs: NOW,
    untilMs,
    letOff,
  });
  return next === null ? null : [next.by.name, new Date(next.atMs).toISOString()];
}

describe('the next freeze of a deployment', () => {
  test('is the first freeze that begins', () => {
    const later = { ...SEASON, from: '2026-12-18T14:00' };
    assert.deepEqual(found({ freezes: { later, season: SEASON } }), ['season', '2026-12-18T13:00:00.000Z']);
  });

  test('is none after the given time', () => {
    assert.equal(found({ freezes: { season: SEASON } }, NOW + HOUR_MS - 1), null);
    assert.deepEqual(found({ freezes: { season: SEASON } }, NOW + HOUR_MS)?.[0], 'season');
  });

  test('is none for another site, nor one that it is let off', () => {
    assert.equal(found({ freezes: { season: { ...SEASON, for: { sites: ['35'] } } } }), null);
    assert.equal(found({ freezes: { season: SEASON } }, NOW + 24 * HOUR_MS, new Set(['season'])), null);
  });

  test('begins when the last of its windows closes', () => {
    const longer = { ...NIGHT, lasts: 3 * HOUR_MS };
    const windows = { short: NIGHT, longer };
    assert.deepEqual(found({ windows })?.[1], '2026-12-18T14:00:00.000Z');
  });

  test('is none while it is frozen already', () => {
    assert.equal(found({ freezes: { now: { ...SEASON, from: '2026-12-18T11:00' } } }), null);
  });
});
