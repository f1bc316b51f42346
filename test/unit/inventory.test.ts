/** What of a run belay.yaml forbids: another server, another spelling of an id, and unknown ids if it is strict. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createInventoryCheck } from '../../src/config/inventory.ts';
import type { Configuration } from '../../src/config/load.ts';
import { appTarget, siteTarget, type RunParts } from '../../src/contract/target.ts';

const UUID = 'a0e1b2c3-0000-4000-8000-00000000beef';
const COMPOSED = 'caf\u00e9';
const servers = new Map([
  ['12', { sites: ['34', UUID, COMPOSED, '0'], apps: ['7'] }],
  ['13', { sites: ['36'] }],
]);
const FILE: Configuration = { fleets: { shop: { servers } }, sites: { '50': { url: 'https://shop.example' } } };

const refused = (asked: Partial<RunParts>, more: Configuration = {}) =>
  createInventoryCheck({ ...FILE, ...more })({ targets: [], ...asked });
const site = (id: string) => ({ targets: [siteTarget(id)] });

describe('the inventory of belay.yaml', () => {
  for (const [what, asked, known] of [
    ['leading zeros', site('034'), '34'],
    ['many zeros', site('00'), '0'],
    ['upper case', site(UUID.toUpperCase()), UUID],
    ['decomposed letters', site('cafe\u0301'), COMPOSED],
    ['full-width digits', site('\uff13\uff14'), '34'],
    ['a site that only sites: names', site('050'), '50'],
    ['an app', { targets: [appTarget('07')] }, '7'],
    ['a server', { serverId: '012' }, '12'],
    ['a site beside its server', { serverId: '12', ...site('034') }, '34'],
  ] as [string, Partial<RunParts>, string][]) {
    test(`refuses another spelling of a known id, and names that: ${what}`, () => {
      const { message = '' } = refused(asked) ?? {};
      assert.match(
        message,
        new RegExp(`differs from the known \\w+ ${known} only in its spelling: write ${known}; .*list`),
      );
    });
  }

  test('refuses another spelling of an id that only a freeze, an approval or a report names', () => {
    const when = { from: '2026-12-20T18:00', to: '2026-12-21T18:00', reason: 'season' };
    const file: Configuration = { freezes: { christmas: { ...when, for: { sites: ['34'], servers: ['12'] } } } };
    const hold = createInventoryCheck(file);
    assert.deepEqual(hold({ targets: [siteTarget('034')] })?.path, ['freezes', 'christmas', 'for', 'sites']);
    assert.equal(hold({ serverId: '012', targets: [] })?.path.at(-1), 'servers');
    assert.equal(hold({ targets: [siteTarget('34'), siteTarget('35')] }), null);
  });

  test('never refuses an id that it knows exactly because that resembles another', () => {
    const both = new Map([['12', { sites: ['34', '034'] }]]);
    const hold = createInventoryCheck({ fleets: { shop: { servers: both } } });
    assert.equal(hold({ serverId: '12', targets: [siteTarget('34'), siteTarget('034')] }), null);
    assert.match(hold({ targets: [siteTarget('0034')] })?.message ?? '', /known site 34 /);
  });

  test('takes a site, an app and a server with alike ids for different things', () => {
    for (const asked of [{ targets: [appTarget('034')] }, site('07'), site('012'), { serverId: '034' }])
      assert.equal(refused(asked), null);
  });

  test('refuses a site of another server, and one that it lacks while it has the server', () => {
    assert.match(refused({ serverId: '99', ...site('36') })?.message ?? '', /belongs to server 13, not to 99/);
    assert.match(refused({ serverId: '12', ...site('35') })?.message ?? '', /site 35 is not on server 12/);
    assert.deepEqual(refused({ serverId: '12', ...site('35') })?.path, ['fleets', 'shop', 'servers', '12']);
  });

  test('lets ids pass that it does not know, unless it is strict', () => {
    for (const asked of [
      site('35'),
      { targets: [appTarget('8')] },
      { serverId: '99' },
      { serverId: '99', ...site('35') },
    ]) {
      assert.equal(refused(asked), null);
      assert.match(refused(asked, { inventory: 'strict' })?.message ?? '', /no fleet has .*: add it under fleets/);
    }
    assert.equal(refused({ serverId: '12', ...site('34') }, { inventory: 'strict' }), null);
    assert.equal(refused({ targets: [appTarget('7')] }, { inventory: 'strict' }), null);
  });
});
