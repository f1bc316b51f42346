/** Commands that know the fleets of belay.yaml. How a file is read is tested in test/unit/fleet-files.test.ts. */
import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { siteTarget } from '../../../src/contract/target.ts';
import { readConfiguration } from '../../../src/config/load.ts';
import { createInventoryCheck } from '../../../src/config/inventory.ts';
import { PACE } from '../../support/command-line.ts';
import { startCommands, type Commands } from '../../support/commands.ts';
import { began } from '../../support/journal.ts';
import { runInProcess } from '../../support/in-process.ts';
import { type Finished } from '../../support/processes.ts';
import { tempFolder } from '../../support/temporal.ts';

async function fileWith(text: string): Promise<string> {
  const path = join(await tempFolder(), 'belay.yaml');
  writeFileSync(path, text);
  return path;
}

describe('the inventory', () => {
  const FILE = `fleets:
  shop:
    servers:
      12: { sites: [34, 35] }
      13: { sites: [36] }
      14:
`;
  const PASSES: [serverId: string, siteIds: string[]][] = [
    ['12', ['34']],
    ['12', ['35', '34']],
    ['12', []],
    ['99', ['88', '89']],
  ];
  const AT_13 = '5: fleets.shop.servers.13: site 36 belongs to server 13, not to';
  const REFUSED: [serverId: string, siteIds: string[], says: string][] = [
    ['12', ['36'], `${AT_13} 12: use --server 13, or move the site in the file`],
    ['99', ['36'], `${AT_13} 99: use --server 13, or move the site in the file`],
    ['12', ['34', '36'], `${AT_13} 12: use --server 13, or move the site in the file`],
    ['12', ['88'], '4: fleets.shop.servers.12: site 88 is not on server 12: use another server, or add the site'],
    ['14', ['88'], '6: fleets.shop.servers.14: site 88 is not on server 14: use another server, or add the site'],
  ];
  let on: Commands;
  let file: string;
  const belay = (serverId: string, siteIds: string[], env: Record<string, string>): Promise<Finished> => {
    const sites = siteIds.flatMap((siteId) => ['--site', siteId]);
    return runInProcess(['run', '--server', serverId, ...sites, ...PACE], { ...on.env, ...env });
  };
  before(async () => {
    file = await fileWith(FILE);
    on = await startCommands();
  });

  test('has no conflict with its own entries or with unknown ids', async () => {
    const hold = createInventoryCheck(await readConfiguration({ path: file, isNamed: true }));
    const asked = (serverId: string, siteIds: string[]) => ({ serverId, targets: siteIds.map(siteTarget) });
    for (const [serverId, siteIds] of PASSES) assert.equal(hold(asked(serverId, siteIds)), null);
    for (const [serverId, siteIds] of REFUSED) assert.equal(createInventoryCheck({})(asked(serverId, siteIds)), null);
  });

  for (const [serverId, siteIds, says] of REFUSED) {
    test(`rejects server ${serverId} with site ${siteIds.join(' and ')}, exits 2 and starts nothing`, async () => {
      const { code, stdout, stderr } = await belay(serverId, siteIds, { BELAY_CONFIG: file });
      assert.ok(stderr.startsWith(`belay: ${file}:${says}`), stderr);
      assert.match(stderr, /^[^\n]*\n$/, 'more than one line');
      assert.deepEqual([code, stdout], [2, '']);
      assert.deepEqual(began(on.sandbox, 'backup', serverId), []);
      assert.equal((await on.belay('list')).stdout, 'no runs\n');
    });
  }

  test('reports a conflict with --json in one document', async () => {
    const args = ['run', '--server', '12', '--site', '36', '--json'];
    const { code, json, stderr } = await runInProcess(args, { ...on.env, BELAY_CONFIG: file });
    assert.deepEqual([code, json().outcome, json().error?.type, stderr], [2, null, 'Usage', '']);
  });

  test('accepts its own entries and unknown servers, and accepts every run without a file', async () => {
    const codes = await Promise.all([
      belay('12', ['34'], { BELAY_CONFIG: file }),
      belay('98', ['87'], { BELAY_CONFIG: file }),
      belay('13', ['35'], {}),
    ]);
    assert.deepEqual(
      codes.map(({ code }) => code),
      [0, 0, 0],
      codes.map(({ stderr }) => stderr).join(''),
    );
    for (const siteId of ['34', '87', '35']) assert.equal(began(on.sandbox, 'deployment', siteId).length, 1);
  });
});
