/** What an ad-hoc freeze may be asked for, and what it holds back. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AdHocFreeze, BlockedAction } from '../../src/features/freezes/shapes.ts';
import { siteTarget } from '../../src/contract/target.ts';
import { adHocFrozenBy } from '../../src/features/freezes/worker.ts';
import { policyOf } from '../../src/config/policy.ts';
import type { PlannedOperation } from '../../src/contract/target.ts';
import { extendFreeze, planFreeze, type NewFreeze } from '../../src/features/freezes/request.ts';

const NOW_MS = Date.parse('2026-12-01T12:00:00.000Z');
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const ASKED = { reason: 'disks', by: 'ana', forMs: HOUR_MS };

const plan = (more: Partial<NewFreeze> = {}) => planFreeze({ ...ASKED, ...more }, NOW_MS);

function planned(more: Partial<NewFreeze> = {}): AdHocFreeze {
  const freeze = plan(more);
  assert.ok(typeof freeze !== 'string');
  return freeze;
}

const until = (text: string) => {
  const asked: NewFreeze = { ...ASKED, until: text };
  delete asked.forMs;
  return planFreeze({ ...asked, by: ASKED.by }, NOW_MS);
};

describe('an ad-hoc freeze', () => {
  test('holds back deployments of everything by default, and lets runs be let off with a reason', () => {
    assert.deepEqual(planned(), {
      ...{ scope: { kind: 'all' }, reason: 'disks', by: 'ana', blocks: ['deploy'], override: 'reason' },
      ...{ since: '2026-12-01T12:00:00.000Z', until: '2026-12-01T13:00:00.000Z' },
    });
  });

  test('holds back backups and lets no run be let off if it is asked to', () => {
    const { blocks, override } = planned({ backups: true, override: 'never' });
    assert.deepEqual([blocks, override], [['deploy', 'backup'], 'never']);
  });

  test('ends at a time that is given with its zone', () => {
    for (const text of ['2026-12-20T18:00+01:00', '2026-12-20T17:00Z', '2026-12-20T17:00:00.000Z']) {
      const freeze = until(text);
      assert.ok(typeof freeze !== 'string');
      assert.equal(freeze.until, '2026-12-20T17:00:00.000Z');
    }
  });

  for (const [what, freeze, problem] of [
    ['ends in the past', until('2026-12-01T11:59Z'), /2026-12-01 11:59:00 \(UTC\) is over: write a later time/],
    ['ends now', until('2026-12-01T12:00Z'), /is over/],
    ['ends at a time without a zone', until('2026-12-20T18:00'), /is not a time: write a time with its zone/],
    ['ends in a month that there is not', until('2026-13-20T18:00Z'), /is not a time/],
    ['ends on a day that there is not', until('2027-02-30T18:00Z'), /is not a time/],
    [
      'lasts longer than 92 days',
      plan({ forMs: 92 * DAY_MS + 1 }),
      /more than 92 days: .* extend the freeze before it ends/,
    ],
    ['lasts for no time', plan({ forMs: 0 }), /is over/],
    ['has no reason', plan({ reason: ' ' }), /^reason: is empty: give one$/],
    ['has a reason that is too long', plan({ reason: 'x'.repeat(201) }), /^reason: has 201 characters/],
    [
      'is for a site and its backups',
      plan({ scope: siteTarget('34'), backups: true }),
      /freeze the backups of its server/,
    ],
    [
      'is for a scope that there is not',
      plan({ scope: { kind: 'host', id: '12' } as never }),
      /^scope\.kind: must be one/,
    ],
    ['is for no scope', plan({ scope: null as never }), /^scope: is not an object with kind and id$/],
    [
      'is for everything, and has an id',
      plan({ scope: { kind: 'all', id: '12' } as never }),
      /^scope\.id: is not a field of this scope: use kind$/,
    ],
    [
      'is for a misspelt id',
      plan({ scope: { kind: 'server', ID: '12' } as never }),
      /^scope\.ID: is not a field of this scope: use kind and id$/,
    ],
    ['is for backups in a word', plan({ backups: 'false' as never }), /^backups: must be one of true, false$/],
    [
      'has an unknown rule for overrides',
      plan({ override: 'Never' as never }),
      /^override: must be one of reason, never$/,
    ],
    ['extends in a word', plan({ extend: 'yes' as never }), /^extend: must be one of true, false$/],
    ['lasts for a text', plan({ forMs: '60000' as never }), /^forMs: is not a number of milliseconds$/],
    ['is for an id that there is not', plan({ scope: { kind: 'server', id: '' } }), /^server: is empty$/],
    ['has two ends', plan({ until: '2026-12-20T18:00Z' }), /give either a time or a duration/],
  ] as const) {
    test(`that ${what} is rejected`, () => {
      assert.ok(typeof freeze === 'string');
      assert.match(freeze, problem);
    });
  }

  test('may last for 92 days', () => {
    assert.equal(planned({ forMs: 92 * DAY_MS }).until, '2027-03-03T12:00:00.000Z');
  });
});

describe('an extension', () => {
  const before = planned({ backups: true, override: 'never', reason: 'first' });

  test('ends later, keeps both reasons and the begin, and holds back no less', () => {
    const later = extendFreeze(before, planned({ forMs: 2 * HOUR_MS, reason: 'second' }));
    assert.ok(typeof later !== 'string');
    const { blocks, override, reason, since, until: end } = later;
    assert.deepEqual([blocks, override, since], [['deploy', 'backup'], 'never', before.since]);
    assert.deepEqual([reason, end], ['second; before: first', '2026-12-01T14:00:00.000Z']);
  });

  test('does not end earlier, or at the same time', () => {
    for (const forMs of [HOUR_MS, HOUR_MS - 1]) {
      const sooner = extendFreeze(before, planned({ forMs }));
      assert.ok(typeof sooner === 'string');
      assert.match(sooner, /everything is frozen until .*: write a later time/);
    }
  });
});

describe('the ad-hoc freezes that fit an operation', () => {
  const servers = new Map([['12', { sites: ['34'] }]]);
  const { adHocIds } = policyOf({ fleets: { shop: { servers } } });
  const site = siteTarget('34');

  for (const [what, operation, ids] of [
    [
      'of a site in a fleet',
      { target: site, serverId: '12' },
      ['freeze:all', 'freeze:fleet:shop', 'freeze:server:12', 'freeze:site:34'],
    ],
    [
      'of a site whose run names no server',
      { target: site },
      ['freeze:all', 'freeze:fleet:shop', 'freeze:server:12', 'freeze:site:34'],
    ],
    [
      'of a site that no fleet has',
      { target: siteTarget('99'), serverId: '13' },
      ['freeze:all', 'freeze:server:13', 'freeze:site:99'],
    ],
    ['of a backup', { serverId: '12' }, ['freeze:all', 'freeze:fleet:shop', 'freeze:server:12']],
    ['of an app', { target: { kind: 'app', id: '34' } }, ['freeze:all', 'freeze:app:34']],
  ] as [string, PlannedOperation, string[]][]) {
    test(`${what} are found by their ids`, () => {
      assert.deepEqual(adHocIds(operation), ids);
    });
  }
});

describe('a running freeze', () => {
  const freeze = planned();
  const isFrozen = (action: BlockedAction, atMs: number, it: AdHocFreeze | null = freeze) =>
    adHocFrozenBy([{ workflowId: 'freeze:all', freeze: it }], action, atMs).length > 0;
  const endMs = Date.parse(freeze.until);

  test('holds back what it blocks, up to its end', () => {
    assert.deepEqual(
      [isFrozen('deploy', endMs - 1), isFrozen('deploy', endMs), isFrozen('backup', endMs - 1)],
      [true, false, false],
    );
    assert.equal(isFrozen('backup', endMs - 1, planned({ backups: true })), true);
  });

  test('holds everything back if its memo cannot be read', () => {
    assert.deepEqual([isFrozen('deploy', endMs, null), isFrozen('backup', endMs, null)], [true, true]);
  });
});
