/** Freezes and windows as belay.yaml has them. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { appTarget, siteTarget } from '../../src/contract/target.ts';
import { policyOf } from '../../src/config/policy.ts';
import type { PlannedOperation } from '../../src/contract/target.ts';
import { readText } from '../support/configuration-file.ts';

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'belay-test-'));
});
after(() => rm(folder, { recursive: true, force: true }));

const read = (text: string) => readText(folder, text);

const FLEETS = `fleets:
  shop:
    servers:
      12: { sites: [34, 35], labels: { tier: production } }
      13: { sites: [36], apps: [7], labels: { tier: test } }
`;
const ONCE = 'from: 2026-12-20T18:00, to: 2027-01-04T06:00, reason: season';
const freeze = (rest: string) => `${FLEETS}freezes:\n  christmas: { ${rest} }\n`;
const window = (rest: string) => `${FLEETS}windows:\n  nights: { ${rest} }\n`;

const [SITE_34, SITE_36, APP_7, STRANGER] = [siteTarget('34'), siteTarget('36'), appTarget('7'), siteTarget('99')];

describe('what a freeze is for', () => {
  const at = Date.parse('2026-12-24T12:00:00Z');
  for (const [scope, expected] of [
    ['', [true, true, true, true]],
    [', for: { fleets: shop }', [true, true, true, false]],
    [', for: { servers: [12] }', [true, false, false, false]],
    [', for: { sites: [34, 99] }', [true, false, false, true]],
    [', for: { apps: 7 }', [false, false, true, false]],
    [', for: { sites: [36], apps: [7] }', [false, true, true, false]],
    [', for: { labels: { tier: production } }', [true, false, false, false]],
    [', for: { fleets: [shop], labels: { tier: test } }', [false, true, true, false]],
  ] as const) {
    test(`"${scope}" fits ${expected.filter(Boolean).length} of four targets`, async () => {
      const policy = policyOf(await read(freeze(ONCE + scope)));
      const isFrozen = (it: PlannedOperation) => policy.frozenBy(it, at).length > 0;
      const found = [SITE_34, SITE_36, APP_7, STRANGER].map((target) => isFrozen({ target }));
      assert.deepEqual(found, expected);
    });
  }

  test('a site that no fleet has is where its run says that it is', async () => {
    const { frozenBy } = policyOf(await read(freeze(`${ONCE}, for: { servers: [12] }`)));
    assert.equal(frozenBy({ target: STRANGER, serverId: '12' }, at).length, 1);
    assert.equal(frozenBy({ target: STRANGER, serverId: '13' }, at).length, 0);
  });
});

test('a policy has the same hash whatever the order of its keys, and another one for other rules', async () => {
  const hashOf = async (rest: string) => policyOf(await read(freeze(rest))).hash;
  const swapped = 'reason: season, to: 2027-01-04T06:00, from: 2026-12-20T18:00';
  assert.equal(await hashOf(ONCE), await hashOf(swapped));
  assert.notEqual(await hashOf(ONCE), await hashOf(`${ONCE}, blocks: [backup]`));
});

describe('a mistake in a freeze or window names the line, the key and the remedy', () => {
  for (const [what, text, message] of [
    [
      'ends before it begins',
      freeze('from: 2026-12-20T18:00, to: 2026-12-20T18:00, reason: x'),
      /:7: freezes\.christmas\.to: it is not after from/,
    ],
    [
      'has a date and a cron',
      freeze(`${ONCE}, cron: 0 1 * * *, lasts: 1h`),
      /:7: freezes\.christmas: write from: and to: for once, or cron: and lasts:/,
    ],
    ['has a cron without lasts', freeze('cron: 0 1 * * *, reason: x'), /freezes\.christmas: write from: and to:/],
    ['has no reason', freeze('cron: 0 1 * * *, lasts: 1h'), /freezes\.christmas\.reason: it is missing; write why/],
    [
      'begins on a day that there is not',
      freeze('from: 2026-02-30T18:00, to: 2026-03-04T06:00, reason: x'),
      /christmas\.from: there is no such day/,
    ],
    ...['2026-12-20T18:00+01:00', '2026-12-20T18:00Z', '2026-12-20T18:00+0100', '2026-12-20T18:00:00Z'].map(
      (time) =>
        [
          `begins at a time with a zone, ${time}`,
          freeze(`from: ${time}, to: 2027-01-04T06:00, reason: x`),
          /:7: freezes\.christmas\.from: it has a zone: write it without a zone, .* timeZone: beside it/,
        ] as const,
    ),
    ...['2026-12-32T18:00', '2026-13-01T00:00', '2026-12-20T25:00', '2026-12-20T18:60'].map(
      (time) =>
        [
          `ends at a time out of range, ${time}`,
          freeze(`from: 2026-12-20T18:00, to: ${time}, reason: x`),
          /:7: freezes\.christmas\.to: there is no such day or time: correct it/,
        ] as const,
    ),
    ...['x', '""', '2026-12-20'].map(
      (time) =>
        [
          `begins at what is no time, ${time}`,
          freeze(`from: ${time}, to: 2027-01-04T06:00, reason: x`),
          /:7: freezes\.christmas\.from: write a local time like/,
        ] as const,
    ),
    [
      'never begins',
      freeze('cron: 0 1 30 2 *, lasts: 1h, reason: x'),
      /christmas\.cron: it never (fires|begins): no given month has that day/,
    ],
    [
      'never ends',
      freeze('cron: 0 1 * * *, lasts: 24h, reason: x'),
      /christmas\.lasts: it begins again before it ends/,
    ],
    [
      'is for a fleet that there is not',
      freeze(`${ONCE}, for: { fleets: [blog] }`),
      /for\.fleets\.0: there is no fleet blog: write one of shop/,
    ],
    [
      'is for a label that no server has',
      freeze(`${ONCE}, for: { labels: { tier: none } }`),
      /for\.labels\.tier: no server has the label tier: none/,
    ],
    ['has a zone that there is not', freeze(`${ONCE}, timeZone: Mars`), /christmas\.timeZone: write a time zone/],
    [
      'is a window with a margin as long as itself',
      window('cron: 0 1 * * *, lasts: 1h, margin: 1h'),
      /nights\.margin: it leaves nothing of the 1h/,
    ],
    [
      'is a window that is always open',
      window('cron: 0 * * * *, lasts: 1h'),
      /nights\.lasts: it begins again before it ends/,
    ],
    ['is a window without a length', window('cron: 0 1 * * *'), /nights\.lasts: it is missing/],
  ] as const) {
    test(`one that ${what}`, async () => {
      await assert.rejects(read(text), message);
    });
  }
});
