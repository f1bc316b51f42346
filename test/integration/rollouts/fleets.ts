import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { parse } from 'yaml';
import type { FleetConfig, RolloutConfig } from '../../../src/config/file/fleet-schema.ts';
import { readConfiguration, type Configuration } from '../../../src/config/load.ts';
import { planRollout } from '../../../src/config/plan/plan-rollout.ts';
import { contradiction, registerOf } from '../../../src/config/plan/inventory.ts';
import { wavesOf } from '../../../src/config/plan/waves.ts';
import { planSchedules } from '../../../src/config/plan/plan-schedules.ts';
import { PACE, startCommandLine, type CommandLine } from '../../support/command-line.ts';
import { began } from '../../support/journal.ts';
import { run, type Finished } from '../../support/processes.ts';
import { tempFolder } from '../../support/temporal.ts';

type WaveConfig = NonNullable<RolloutConfig['waves']>[number];

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
  test('that are numbers are taken as they are written', async () => {
    const written = ['0012', '1e3', '12', '1.0', '0x10', '1_000', '12345678901234567890', 's-1'];
    assert.deepEqual(await sitesOf(`9: { sites: [${written.join(', ')}] }`), [['9', written]]);
    for (const id of written) assert.deepEqual(await sitesOf(`${id}: { sites: [1] }`), [[id, ['1']]]);
  });

  test('of sites are a list of numbers or words', async () => {
    assert.deepEqual(await sitesOf('12: { sites: [34, "35", shop.example] }'), [['12', ['34', '35', 'shop.example']]]);
  });

  test('of a server with nothing under it are those of a server without sites', async () => {
    assert.deepEqual(await sitesOf('15:'), [['15', undefined]]);
    assert.deepEqual(registerOf((await read(shop('15:'))).fleets).servers.get('15')?.siteIds, []);
  });

  test('are the same in a schedule as in its fleet', async () => {
    const [, monthly, sundays, backups] = planSchedules(await read(GOOD), 2026).map(({ definition }) => definition);
    assert.deepEqual((monthly?.input.start.input as { siteIds: string[] }).siteIds, ['34', '1e3']);
    assert.deepEqual(sundays?.input.start, {
      type: 'backupThenDeploy',
      input: { serverId: '0013', siteIds: ['1e3', '37'], ifBusy: 'fail' },
    });
    assert.deepEqual(backups?.input.start, { type: 'backupOnly', input: { serverId: '15', siteIds: [] } });
  });

  test('keep the order of the file', async () => {
    const { fleets, rollouts } = await read(`${shop('20:', '3:', 'x:', '100:')}rollouts: { all: { fleet: shop } }\n`);
    const [all] = planRollout({ fleets, rollouts }, 'all').waves;
    assert.deepEqual(
      all?.targets.map(({ serverId }) => serverId),
      ['20', '3', 'x', '100'],
    );
  });
});

test('hours and minutes may be written with two digits', async () => {
  const { schedules } = await read(
    `${shop('12:')}schedules: { a: { start: { backup: 12 }, calendar: { hour: 02, minute: 00 } } }\n`,
  );
  assert.deepEqual(schedules?.a?.calendar, { hour: [2], minute: [0] });
});

describe('docs/belay.schema.json', () => {
  const schema = JSON.parse(readFileSync(new URL('../../../docs/belay.schema.json', import.meta.url), 'utf8')) as object;
  const allows = new Ajv2020({ strict: false }).compile(schema);

  test('accepts what is read', async () => {
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
    test(`refuses ${JSON.stringify(bad)}, as does whoever reads the file`, async () => {
      const text = GOOD.replace(good, bad);
      assert.equal(allows(parse(text)), false);
      await assert.rejects(read(text), /there is no such key/);
    });
  }
});

describe('the register', () => {
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
    ['12', ['36'], `${AT_13} 12: name --server 13, or move the site in the file`],
    ['99', ['36'], `${AT_13} 99: name --server 13, or move the site in the file`],
    ['12', ['34', '36'], `${AT_13} 12: name --server 13, or move the site in the file`],
    ['12', ['88'], '4: fleets.shop.servers.12: site 88 is none of server 12: name the right server, or add the site'],
    ['14', ['88'], '6: fleets.shop.servers.14: site 88 is none of server 14: name the right server, or add the site'],
  ];
  let on: CommandLine;
  let file: string;
  const belay = (serverId: string, siteIds: string[], env: Record<string, string>): Promise<Finished> => {
    const sites = siteIds.flatMap((siteId) => ['--site', siteId]);
    return run(['run', '--server', serverId, ...sites, ...PACE], { ...on.env, ...env });
  };
  before(async () => {
    file = await fileWith(FILE);
    on = await startCommandLine();
  });

  test('contradicts nobody who names its own, or what it does not know', async () => {
    const register = registerOf((await read(FILE)).fleets);
    for (const [serverId, siteIds] of PASSES) assert.equal(contradiction(register, serverId, siteIds), null);
    for (const [serverId, siteIds] of REFUSED) assert.equal(contradiction(registerOf(), serverId, siteIds), null);
  });

  for (const [serverId, siteIds, says] of REFUSED) {
    test(`refuses server ${serverId} with site ${siteIds.join(' and ')}: exit 2, and nothing is started`, async () => {
      const { code, stdout, stderr } = await belay(serverId, siteIds, { BELAY_CONFIG: file });
      assert.ok(stderr.startsWith(`belay: ${file}:${says}`), stderr);
      assert.match(stderr, /^[^\n]*\n$/, 'one line');
      assert.deepEqual([code, stdout], [2, '']);
      assert.deepEqual(began(on.sandbox, 'backup', serverId), []);
      assert.equal((await on.belay('list')).stdout, 'no runs\n');
    });
  }

  test('says so with --json in one document', async () => {
    const args = ['run', '--server', '12', '--site', '36', '--json'];
    const { code, json, stderr } = await run(args, { ...on.env, BELAY_CONFIG: file });
    assert.deepEqual([code, json().outcome, json().error?.type, stderr], [2, null, 'Usage', '']);
  });

  test('lets a run of its own and one of an unknown server pass; without a file every run passes', async () => {
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

const fleet = (servers: Record<string, Record<string, string>>): FleetConfig => ({
  servers: new Map(Object.entries(servers).map(([id, labels]) => [id, { sites: [`${id}-a`], labels }])),
});
const namesOf = (servers: FleetConfig, waves?: WaveConfig[]) =>
  wavesOf(servers, waves).map(({ name, targets }) => [name, targets.map(({ serverId }) => serverId).join(' ')]);

describe('waves', () => {
  const many = fleet(Object.fromEntries('abcdefghij'.split('').map((id) => [id, { half: id < 'f' ? '1' : '2' }])));

  test('without any there is one of all', () => {
    assert.deepEqual(namesOf(many), [['all', 'a b c d e f g h i j']]);
  });

  test('take servers by labels, counts and per cent, in the order of the fleet; the rest comes last', () => {
    const waves = [{ name: 'canary', servers: 1 }, { labels: { half: '2' }, servers: 2 }, { servers: '29%' }];
    assert.deepEqual(namesOf(many, waves), [
      ['canary', 'a'],
      ['wave-2', 'f g'],
      ['wave-3', 'b c'],
      ['rest', 'd e h i j'],
    ]);
  });

  test('have no rest where every server was taken', () => {
    assert.deepEqual(namesOf(many, [{ labels: { half: '1' } }, { servers: '100%' }]), [
      ['wave-1', 'a b c d e'],
      ['wave-2', 'f g h i j'],
    ]);
  });

  test('of a small part have at least one server, and of a word only those with all labels', () => {
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

  test('property: nobody is in two, nobody is lost, each takes the first of those who fit and are left', () => {
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

test('what docs/fleets.md shows is read', async () => {
  const page = readFileSync(new URL('../../../docs/fleets.md', import.meta.url), 'utf8');
  const shown = /```yaml\n([^]*?)```/.exec(page)?.[1] ?? '';
  const { fleets, rollouts, schedules } = await read(shown);
  assert.deepEqual([...(fleets?.shop?.servers.keys() ?? [])], ['12', '13', '14', '15']);
  assert.deepEqual([Object.keys(rollouts ?? {}), Object.keys(schedules ?? {})], [['steady'], ['nightly']]);
});
