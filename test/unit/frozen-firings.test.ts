/** The warning of `schedule apply` about firings in a freeze. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Configuration } from '../../src/config/load.ts';
import { ROLLOUT_TYPE } from '../../src/contract/names.ts';
import type { ScheduledInput } from '../../src/features/schedules/shapes.ts';
import { frozenFirings } from '../../src/features/schedules/actions.ts';
import { policyOf } from '../../src/config/policy.ts';
import { cronTimes } from '../../src/request/calendar/cron-times.ts';

const NOW = Date.parse('2026-12-18T12:00:00Z');
const SEASON = { from: '2026-12-20T00:00', to: '2026-12-22T03:30', timeZone: 'Europe/Berlin', reason: 'season' };
const SITE: ScheduledInput['start'] = { type: 'deployOnly', input: { siteIds: ['34'] } };
const NIGHTS = '30 2 * * *';

const firings = (configuration: Configuration, start: ScheduledInput['start'] = SITE, cron = NIGHTS) =>
  frozenFirings({ start, timeZone: 'Europe/Berlin' }, cronTimes(cron), policyOf(configuration), NOW).map(
    ({ at }) => at,
  );

describe('the next firings of a schedule', () => {
  test('in a freeze are those at which it is active on the clocks of the zone', () => {
    const expected = ['2026-12-20T01:30:00.000Z', '2026-12-21T01:30:00.000Z', '2026-12-22T01:30:00.000Z'];
    assert.deepEqual(firings({ freezes: { season: SEASON } }), expected);
  });

  test('are free at the end of the freeze', () => {
    assert.deepEqual(firings({ freezes: { season: { ...SEASON, to: '2026-12-20T02:30' } } }), []);
  });

  test('are free if the freeze is for something else', () => {
    assert.deepEqual(firings({ freezes: { season: { ...SEASON, for: { sites: ['35'] } } } }), []);
  });

  test('of a rollout are in a freeze of one of its servers', () => {
    const servers = ['12', '13'].map((serverId) => ({ serverId, siteIds: [`a${serverId}`] }));
    const options = { maxAtOnce: 1, maxFailures: 0, onFailures: 'stop' as const };
    const input = { name: 'steady', fleet: 'shop', waves: [{ name: 'all', targets: servers }], ...options };
    const season = { ...SEASON, for: { servers: ['13'] } };
    assert.equal(firings({ freezes: { season } }, { type: ROLLOUT_TYPE, input }).length, 3);
  });

  test('of a backup are free in a freeze of deployments', () => {
    assert.deepEqual(firings({ freezes: { season: SEASON } }, { type: 'backupOnly', input: { serverId: '12' } }), []);
  });

  test('outside every window are frozen, of one month and of at most 50 firings', () => {
    const windows = { days: { cron: '0 8 * * *', lasts: 3_600_000 } };
    assert.equal(firings({ windows }).length, 31);
    assert.equal(firings({ windows }, SITE, '15 * * * *').length, 48);
  });
});
