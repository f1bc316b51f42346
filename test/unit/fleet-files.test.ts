/** Fleets, rollouts and schedules as belay.yaml has them. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import { readConfiguration, type Configuration } from '../../src/config/load.ts';
import { planRollout, resolveCount } from '../../src/config/rollout-plan.ts';
import { buildInventory } from '../../src/config/inventory.ts';
import { planSchedules } from '../../src/features/schedules/config.ts';

const SCHEMA = JSON.parse(await readFile(new URL('../../docs/belay.schema.json', import.meta.url), 'utf8')) as object;

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
  hourly: { start: { run: 12 }, cron: 0 * * * *, overlap: queue, supersede: true }
notify: { heartbeats: { nightly: { env: NIGHTLY } } }
`;

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'belay-test-'));
});
after(() => rm(folder, { recursive: true, force: true }));

let files = 0;

async function read(text: string): Promise<Configuration> {
  const path = join(folder, `${(files += 1)}.yaml`);
  await writeFile(path, text);
  return readConfiguration({ path, isNamed: true });
}

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
    const [, monthly, sundays, backups, hourly] = planSchedules(await read(GOOD), 2026).map(
      ({ definition }) => definition,
    );
    assert.deepEqual((monthly?.input.start.input as { siteIds: string[] }).siteIds, ['34', '1e3']);
    assert.deepEqual(sundays?.input.start, {
      type: 'backupThenDeploy',
      input: { serverId: '0013', siteIds: ['1e3', '37'], ifBusy: 'fail' },
    });
    assert.deepEqual(backups?.input.start, { type: 'backupOnly', input: { serverId: '15' } });
    const input = { serverId: '12', siteIds: ['34', '35'], supersede: true };
    assert.deepEqual(hourly?.input.start, { type: 'backupThenDeploy', input });
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
  const allows = new Ajv2020({ strict: false }).compile(SCHEMA);

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

test('the example of docs/how-to/nightly-fleet.md is read without errors', async () => {
  const page = await readFile(new URL('../../docs/how-to/nightly-fleet.md', import.meta.url), 'utf8');
  const shown = /```yaml\n([^]*?)```/.exec(page)?.[1] ?? '';
  const { fleets, rollouts, schedules } = await read(shown);
  assert.deepEqual([...(fleets?.shop?.servers.keys() ?? [])], ['12', '13', '14', '15']);
  assert.deepEqual([Object.keys(rollouts ?? {}), Object.keys(schedules ?? {})], [['steady'], ['nightly']]);
});
