import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { siteTarget } from '../../../src/contract/target.ts';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import { readConfiguration, type Configuration } from '../../../src/config/load.ts';
import { planRollout } from '../../../src/config/plan/plan-rollout.ts';
import { resolveCount } from '../../../src/config/file/schema-values.ts';
import { findInventoryConflict, buildInventory } from '../../../src/config/plan/inventory.ts';
import { planSchedules } from '../../../src/config/plan/plan-schedules.ts';
import { PACE } from '../../support/command-line.ts';
import { startCommands, type Commands } from '../../support/commands.ts';
import { began } from '../../support/journal.ts';
import { runInProcess } from '../../support/in-process.ts';
import { type Finished } from '../../support/processes.ts';
import { tempFolder } from '../../support/temporal.ts';

const GOOD = `fleets:
  shop:
    servers:
      12: { sites: [34, 35], labels: { tier: canary, racks: 2, new: true } }
      0013:
        sites: [1e3, "37"]
      15:
rollouts:
  steady:
    fleet: shop
    waves:
      - { name: canary, labels: { tier: canary } }
      - servers: 10%
      - { servers: 1 }
    maxAtOnce: 2
    maxFailures: 5%
    onFailures: pause
    backup: { interval: 30s, tries: 60, maxAge: 1h }
    deploy: { interval: 5, minEvidence: changed, onAmbiguous: stop }
schedules:
  nightly:
    start: { rollout: steady }
    cron: 30 2 * * mon-fri
    timeZone: Europe/Berlin
    jitter: 10m
    overlap: queue
    catchUp: 10s
    pauseOnFailure: true
    heartbeat: nightly
  monthly:
    start: { deploy: [34, 1e3] }
    calendar: { hour: [2, 14], minute: 30, dayOfMonth: 1, month: [january, july] }
    keepGoing: true
  sundays: { start: { run: 0013 }, calendar: { hour: 2, dayOfWeek: sunday }, ifBusy: fail }
  backups: { start: { backup: 15 }, cron: 0 */6 * * * }
notify: { heartbeats: { nightly: { env: NIGHTLY } } }
`;

async function fileWith(text: string): Promise<string> {
  const path = join(await tempFolder(), 'belay.yaml');
  writeFileSync(path, text);
  return path;
}

const read = async (text: string): Promise<Configuration> =>
  readConfiguration({ path: await fileWith(text), isNamed: true });

const shop = (...servers: string[]) => `fleets:\n  shop:\n    servers: { ${servers.join(', ')} }\n`;

async function sitesOf(...servers: string[]): Promise<[string, string[] | undefined][]> {
  const { fleets } = await read(shop(...servers));
  return [...(fleets?.shop?.servers ?? [])].map(([serverId, { sites }]) => [serverId, sites]);
}

describe('ids', () => {
  test('numbers are read as they are written', async () => {
    const written = ['0012', '1e3', '12', '1.0', '0x10', '1_000', '12345678901234567890', 's-1'];
    assert.deepEqual(await sitesOf(`9: { sites: [${written.join(', ')}] }`), [['9', written]]);
    for (const id of written) assert.deepEqual(await sitesOf(`${id}: { sites: [1] }`), [[id, ['1']]]);
  });

  test('sites are a list of numbers or strings', async () => {
    assert.deepEqual(await sitesOf('12: { sites: [34, "35", shop.example] }'), [['12', ['34', '35', 'shop.example']]]);
  });

  test('a server with an empty value has no sites', async () => {
    assert.deepEqual(await sitesOf('15:'), [['15', undefined]]);
    assert.deepEqual(buildInventory((await read(shop('15:'))).fleets).servers.get('15')?.targets, []);
  });

  test('a schedule uses the same ids as its fleet', async () => {
    const [, monthly, sundays, backups] = planSchedules(await read(GOOD), 2026).map(({ definition }) => definition);
    assert.deepEqual((monthly?.input.start.input as { siteIds: string[] }).siteIds, ['34', '1e3']);
    assert.deepEqual(sundays?.input.start, {
      type: 'backupThenDeploy',
      input: { serverId: '0013', siteIds: ['1e3', '37'], ifBusy: 'fail' },
    });
    assert.deepEqual(backups?.input.start, { type: 'backupOnly', input: { serverId: '15' } });
  });

  test('fleets, servers and rollouts keep the order of the file', async () => {
    const { fleets, rollouts } = await read(`${shop('20:', '3:', 'x:', '100:')}rollouts: { all: { fleet: shop } }\n`);
    const [all] = planRollout({ fleets, rollouts }, 'all').waves;
    assert.deepEqual(
      all?.targets.map(({ serverId }) => serverId),
      ['20', '3', 'x', '100'],
    );
  });
});

test('hours and minutes can have two digits', async () => {
  const { schedules } = await read(
    `${shop('12:')}schedules: { a: { start: { backup: 12 }, calendar: { hour: 02, minute: 00 } } }\n`,
  );
  assert.deepEqual(schedules?.a?.calendar, { hour: [2], minute: [0] });
});

test('a percentage is rounded down without floating-point errors', () => {
  assert.deepEqual(
    [resolveCount('64.6%', 500), resolveCount('18.4%', 375), resolveCount('3%', 10), resolveCount(4, 3)],
    [323, 69, 0, 4],
  );
});

describe('docs/belay.schema.json', () => {
  const schema = JSON.parse(
    readFileSync(new URL('../../../docs/belay.schema.json', import.meta.url), 'utf8'),
  ) as object;
  const allows = new Ajv2020({ strict: false }).compile(schema);

  test('accepts every file that Belay reads', async () => {
    await read(GOOD);
    assert.ok(allows(parse(GOOD)), JSON.stringify(allows.errors));
  });

  for (const [good, bad] of [
    ['sites: [34', 'site: [34'],
    ['maxAtOnce:', 'maxAtonce:'],
    ['- servers: 10%', '- server: 10%'],
    ['tries: 60', 'trys: 60'],
    ['timeZone:', 'timezone:'],
    ['start: { rollout:', 'start: { rollouts:'],
    ['dayOfMonth:', 'day:'],
    ['rollouts:\n', 'rollout:\n'],
  ] as const) {
    test(`rejects ${JSON.stringify(bad)}, as Belay does`, async () => {
      const text = GOOD.replace(good, bad);
      assert.equal(allows(parse(text)), false);
      await assert.rejects(read(text), /there is no such key/);
    });
  }
});

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
    const inventory = buildInventory((await read(FILE)).fleets);
    for (const [serverId, siteIds] of PASSES)
      assert.equal(findInventoryConflict(inventory, serverId, siteIds.map(siteTarget)), null);
    for (const [serverId, siteIds] of REFUSED)
      assert.equal(findInventoryConflict(buildInventory(), serverId, siteIds.map(siteTarget)), null);
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

test('the example of docs/how-to/nightly-fleet.md is read without errors', async () => {
  const page = readFileSync(new URL('../../../docs/how-to/nightly-fleet.md', import.meta.url), 'utf8');
  const shown = /```yaml\n([^]*?)```/.exec(page)?.[1] ?? '';
  const { fleets, rollouts, schedules } = await read(shown);
  assert.deepEqual([...(fleets?.shop?.servers.keys() ?? [])], ['12', '13', '14', '15']);
  assert.deepEqual([Object.keys(rollouts ?? {}), Object.keys(schedules ?? {})], [['steady'], ['nightly']]);
});
