import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createInventoryCheck } from '../../src/config/inventory.ts';
import { appTarget, siteTarget } from '../../src/contract/target.ts';
import fc from 'fast-check';
import type { FleetConfig } from '../../src/config/file/fleets.ts';
import { wavesOf } from '../../src/config/rollout-plan.ts';

type WaveConfig = NonNullable<Parameters<typeof wavesOf>[1]>[number];

const fleet = (servers: Record<string, Record<string, string>>): FleetConfig => ({
  servers: new Map(Object.entries(servers).map(([id, labels]) => [id, { sites: [`${id}-a`], labels }])),
});
const namesOf = (servers: FleetConfig, waves?: WaveConfig[]) =>
  wavesOf(servers, waves).map(({ name, targets }) => [name, targets.map(({ serverId }) => serverId).join(' ')]);

describe('waves', () => {
  const many = fleet(Object.fromEntries('abcdefghij'.split('').map((id) => [id, { half: id < 'f' ? '1' : '2' }])));

  test('a rollout without waves has one wave with all servers', () => {
    assert.deepEqual(namesOf(many), [['all', 'a b c d e f g h i j']]);
  });

  test('waves take servers by label, count and percentage in fleet order, and the remaining servers come last', () => {
    const waves = [{ name: 'canary', servers: 1 }, { labels: { half: '2' }, servers: 2 }, { servers: '29%' }];
    assert.deepEqual(namesOf(many, waves), [
      ['canary', 'a'],
      ['wave-2', 'f g'],
      ['wave-3', 'b c'],
      ['remaining', 'd e h i j'],
    ]);
  });

  test('no wave is added if the waves take every server', () => {
    assert.deepEqual(namesOf(many, [{ labels: { half: '1' } }, { servers: '100%' }]), [
      ['wave-1', 'a b c d e'],
      ['wave-2', 'f g h i j'],
    ]);
  });

  test('a small percentage takes at least one server, and labels must all match', () => {
    assert.deepEqual(namesOf(many, [{ servers: '1%' }])[0], ['wave-1', 'a']);
    const servers = fleet({ a: { tier: 'x' }, b: { tier: 'x', zone: 'y' }, c: { zone: 'y' } });
    assert.deepEqual(namesOf(servers, [{ labels: { tier: 'x', zone: 'y' } }])[0], ['wave-1', 'b']);
  });

  const word = fc.constantFrom('x', 'y');
  const labels = fc.record({ tier: word, zone: word }, { requiredKeys: [] });
  const share = fc.oneof(
    fc.integer({ min: 1, max: 8 }),
    fc.integer({ min: 1, max: 100 }).map((part) => `${part}%`),
  );
  const wave = fc.record({ labels, servers: share }, { requiredKeys: [] });
  const servers = fc.array(labels, { minLength: 1, maxLength: 20 }).map((all) => {
    return fleet(Object.fromEntries(all.map((its, index) => [`s${index}`, its])));
  });

  test('property: each server is in exactly one wave, and each wave takes the first matching servers that are left', () => {
    fc.assert(
      fc.property(servers, fc.array(wave, { maxLength: 5 }), (all, asked) => {
        const waves = wavesOf(all, asked);
        let left = [...all.servers.keys()];
        for (const [index, { targets }] of waves.entries()) {
          const { labels: wanted = {}, servers: size = '100%' } = asked[index] ?? {};
          const fitting = left.filter((id) =>
            Object.entries(wanted).every(([label, value]) => all.servers.get(id)?.labels?.[label] === value),
          );
          const part = Math.floor((Number.parseInt(String(size)) * all.servers.size) / 100);
          const taken = fitting.slice(0, typeof size === 'number' ? size : Math.max(1, part));
          assert.deepEqual(
            targets,
            taken.map((serverId) => ({ serverId, siteIds: [`${serverId}-a`] })),
          );
          left = left.filter((id) => !taken.includes(id));
        }
        assert.deepEqual(left, []);
        assert.ok(waves.length - asked.length <= 1);
      }),
      { numRuns: 1_000 },
    );
  });
});

test("a server's apps follow its sites, and an app has the id of a site without being it", () => {
  const servers = new Map([
    ['12', { sites: ['34'], apps: ['34', '7'] }],
    ['13', { sites: ['7'] }],
  ]);
  const [wave] = wavesOf({ servers });
  assert.deepEqual(wave?.targets, [
    { serverId: '12', targets: [siteTarget('34'), appTarget('34'), appTarget('7')] },
    { serverId: '13', siteIds: ['7'] },
  ]);
  const hold = createInventoryCheck({ fleets: { shop: { servers } } });
  assert.equal(hold({ serverId: '12', targets: [appTarget('7'), siteTarget('34')] }), null);
  const message = hold({ serverId: '13', targets: [siteTarget('7'), appTarget('7')] })?.message;
  assert.equal(message, 'app 7 belongs to server 12, not to 13: use --server 12, or move the app in the file');
});
