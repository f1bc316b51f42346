import '../../support/timing/use-patient.ts';
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import type { AdHocFreeze } from '../../../src/features/freezes/shapes.ts';
import { startCommands, type Commands } from '../../support/commands.ts';
import { DEPLOY_PACE } from '../../support/command-line.ts';
import { runWorkflowId } from '../../../src/contract/ids.ts';
import { DEFAULT_TASK_QUEUE } from '../../../src/contract/names.ts';
import { spreadOf } from '../../../src/features/freezes/rules.ts';
import { eventually } from '../../support/eventually.ts';
import { runInProcess } from '../../support/in-process.ts';
import { posts } from '../../support/journal.ts';
import type { Finished } from '../../support/processes.ts';
import { tempFolder } from '../../support/temporal.ts';
import { fresh } from '../../support/world.ts';

let on: Commands;
before(async () => {
  on = await startCommands();
});

const deploy = async (site: string) => {
  const { code, json } = await on.belay('deploy', '--site', site, ...DEPLOY_PACE, '--json');
  return [code, json().error?.type ?? null, posts(on.sandbox, `/v1/sites/${site}/deploy`).length];
};

const WHY = ['--reason', 'disks', '--by', 'ana'];
const HOUR = ['--for', '1h', ...WHY];

interface Printed {
  workflowId: string;
  freeze: AdHocFreeze;
  woken: string[];
  freezes: { workflowId: string; freeze: AdHocFreeze }[];
  error: { type: string; message: string } | null;
}

const printed = ({ stdout }: Finished) => JSON.parse(stdout) as Printed;

describe('belay freeze and thaw', () => {
  test('a freeze for a fleet that only the file of the caller has is refused, and nothing is frozen', async () => {
    const BELAY_CONFIG = join(await tempFolder(), 'belay.yaml');
    writeFileSync(BELAY_CONFIG, 'fleets: { shop: { servers: { s1: { sites: [a1] } } } }');
    const { code, stderr } = await runInProcess(['freeze', '--fleet', 'shop', ...HOUR], { ...on.env, BELAY_CONFIG });
    assert.equal(code, 2);
    assert.match(stderr, /nothing is frozen, because the worker's belay\.yaml says: there is no fleet shop/);
    await eventually('its end', async () => (await on.belay('freezes')).code === 0);
  });

  test('a freeze for what looks like a list of ids comes with a note', async () => {
    const { code, stderr } = await on.belay('freeze', '--site', 'a4,a5', ...HOUR);
    assert.deepEqual([code, stderr], [0, 'note: site a4,a5 is taken as one id: check it\n']);
    await on.belay('thaw', '--site', 'a4,a5', '--reason', 'over');
  });

  test('a freeze holds back deployments until it is thawed', async () => {
    const site = fresh('a');
    const { code, stdout } = await on.belay('freeze', ...HOUR);
    assert.equal(code, 0);
    assert.match(
      stdout,
      /^everything is frozen until [\d-]+ [\d:]{8} \(UTC\): deployments are held back\n {2}freeze: freeze:all\n$/,
    );
    assert.deepEqual(await deploy(site), [5, 'Frozen', 0]);
    const thawed = await on.belay('thaw', ...WHY);
    assert.deepEqual([thawed.code, thawed.stdout], [0, 'freeze:all has ended\n']);
    assert.deepEqual(await deploy(site), [0, null, 1]);
    const { raw } = await on.client.workflow.getHandle('freeze:all').describe();
    const { events } = await on.client.workflow.getHandle('freeze:all').fetchHistory();
    const reason = events?.at(-1)?.workflowExecutionTerminatedEventAttributes?.reason;
    assert.equal(reason, 'thawed by ana: disks', String(raw.workflowExecutionInfo?.status));
  });

  test('a freeze of one site holds back no other, and its end is that of its workflow', async () => {
    const [site, other] = [fresh('a'), fresh('a')];
    const { workflowId, freeze } = printed(
      await on.belay('freeze', '--site', site, ...HOUR, '--no-override', '--json'),
    );
    assert.equal(workflowId, `freeze:site:${site}`);
    assert.deepEqual([freeze.scope, freeze.override, freeze.by], [{ kind: 'site', id: site }, 'never', 'ana']);
    assert.equal(Date.parse(freeze.until) - Date.parse(freeze.since), 3_600_000);
    assert.deepEqual(
      [await deploy(site), await deploy(other)],
      [
        [5, 'Frozen', 0],
        [0, null, 1],
      ],
    );
    const { raw } = await on.client.workflow.getHandle(workflowId).describe();
    assert.equal(Number(raw.executionConfig?.workflowExecutionTimeout?.seconds), 3_660);
  });

  test('a freeze of several sites holds back each of them, and thaw ends them together', async () => {
    const [site, other] = [fresh('a'), fresh('a')];
    const scope = ['--site', site, '--site', other];
    const frozen = printed(await on.belay('freeze', ...scope, ...HOUR, '--json'));
    const ids = [`freeze:site:${site}`, `freeze:site:${other}`];
    assert.deepEqual([frozen.workflowId, frozen.freezes.map(({ workflowId }) => workflowId)], [ids[0], ids]);
    assert.deepEqual([await deploy(site), await deploy(other)], Array(2).fill([5, 'Frozen', 0]));
    const { code, stdout } = await on.belay('freezes', ...scope);
    assert.deepEqual([code, ids.every((it) => stdout.includes(it))], [5, true], stdout);
    const thawed = await on.belay('thaw', ...scope, ...WHY);
    assert.deepEqual([thawed.code, thawed.stdout], [0, ids.map((it) => `${it} has ended\n`).join('')]);
    assert.deepEqual([await deploy(site), await deploy(other)], Array(2).fill([0, null, 1]));
  });

  test('a command that fails at the second of two sites says what it did with the first', async () => {
    const [site, other] = [fresh('a'), fresh('a')];
    await on.belay('freeze', '--site', other, ...HOUR);
    const { code, stderr } = await on.belay('freeze', '--site', site, '--site', other, ...HOUR);
    assert.equal(code, 2);
    assert.match(
      stderr,
      new RegExp(
        `^done before it failed: site ${site} is frozen until [\\d-]+ [\\d:]{8} \\(UTC\\): deployments are held`,
      ),
    );
    assert.match(stderr, new RegExp(`^belay: site ${other} is frozen already`, 'm'));
    await on.belay('thaw', '--site', site, '--site', other, ...WHY);
  });

  test('the same scope twice is an error, and --extend replaces it by a later end', async () => {
    const scope = ['--site', fresh('a')];
    await on.belay('freeze', ...scope, ...HOUR);
    const again = printed(await on.belay('freeze', ...scope, ...HOUR, '--json'));
    assert.equal(again.error?.type, 'Usage');
    assert.match(
      again.error?.message ?? '',
      /^site \S+ is frozen already until [\d-]+ [\d:]{8} \(UTC\) because "disks": use --extend/,
    );
    const sooner = await on.belay('freeze', ...scope, '--for', '30m', ...WHY, '--extend');
    assert.equal(sooner.code, 2);
    assert.match(sooner.stderr, /write a later time, or thaw it first/);
    const later = printed(await on.belay('freeze', ...scope, '--for', '2h', '--reason', 'more', '--extend', '--json'));
    assert.equal(later.freeze.reason, 'more; before: disks');
    assert.equal(Date.parse(later.freeze.until) - Date.parse(later.freeze.since) > 7_200_000 - 60_000, true);
  });

  describe('--extend leaves a freeze in force', () => {
    const byHand = async (memo: object = {}) => {
      const fleet = fresh('gone');
      const until = new Date(Date.now() + 1_800_000).toISOString();
      const freeze = { scope: { kind: 'fleet', id: fleet }, until };
      const workflowId = `freeze:fleet:${fleet}`;
      const options = { workflowId, taskQueue: DEFAULT_TASK_QUEUE, args: [freeze, true] };
      await on.client.workflow.start('freeze', { ...options, memo: { freeze: { ...freeze, ...memo } } });
      const extended = await on.belay('freeze', '--fleet', fleet, ...HOUR, '--extend');
      const { status } = await on.client.workflow.getHandle(workflowId).describe();
      await on.belay('thaw', '--fleet', fleet, '--reason', 'over');
      return { ...extended, status: status.name };
    };

    test('with its new end if the worker refuses it', async () => {
      const memo = { since: new Date().toISOString(), reason: 'disks', by: 'ana', blocks: ['deploy'] };
      const { code, stderr, status } = await byHand({ ...memo, override: 'reason' });
      assert.deepEqual([code, status], [0, 'RUNNING'], stderr);
      assert.match(stderr, /^note: the new end is set, but the worker's belay\.yaml says: there is no fleet gone/);
    });

    test('as it is if it does not say what it holds back', async () => {
      const { code, stderr, status } = await byHand();
      assert.deepEqual([code, status], [2, 'RUNNING'], stderr);
      assert.match(stderr, /^belay: freeze:fleet:gone\S* is in force, and cannot be read: .*: thaw it first$/m);
    });
  });

  for (const [what, args, message] of [
    ['without an end', ['freeze', ...WHY], /a freeze needs an end: give --until TIME or --for DURATION/],
    ['with two ends', ['freeze', ...HOUR, '--until', '2100-01-01T00:00Z'], /cannot be used with option '--for/],
    [
      'with two scopes',
      ['freeze', ...HOUR, '--site', '1', '--server', '2'],
      /^belay: --server and --site cannot be given together: give each a command of its own$/m,
    ],
    ['of two scopes to thaw', ['thaw', ...WHY, '--site', '1', '--fleet', 'a'], /--fleet and --site cannot be given/],
    ['without a reason', ['freeze', '--for', '1h'], /required option '--reason <text>' not specified/],
    ['with an empty reason', ['freeze', '--for', '1h', '--reason', ' '], /'--reason <text>'.*It is empty\. Give one\./],
    [
      'that ends in the past',
      ['freeze', '--until', '2020-01-01T00:00Z', ...WHY],
      /^belay: --until: 2020-01-01 00:00:00 \(UTC\) is over/m,
    ],
    ['with a time without a zone', ['freeze', '--until', '2100-01-01T00:00', ...WHY], /is not a time with its zone/],
    ['that lasts 93 days', ['freeze', '--for', '2232h', ...WHY], /from 1s to 92d/],
    ['of the backups of a site', ['freeze', '--site', '1', '--backups', ...HOUR], /freeze the backups of its server/],
    [
      'to thaw that there is not',
      ['thaw', '--site', '1', ...WHY],
      /there is no freeze:site:1: `npx belay-deploy freezes` lists/,
    ],
    ['with a reason that is too long', ['thaw', '--reason', 'x'.repeat(201)], /reason: has 201 characters/],
  ] as [string, string[], RegExp][]) {
    test(`a freeze ${what} is an error, and nothing is started`, async () => {
      const { code, stderr } = await on.belay(...args);
      assert.deepEqual([code, stderr.match(message) !== null], [2, true], stderr);
    });
  }
});

const CVE = ['--reason', 'CVE'];

describe('--override-freeze', () => {
  const off = (site: string, ...more: string[]) => ['--override-freeze', `freeze:site:${site}`, ...more];

  test('lets a run off with a reason, which is printed with who decided', async () => {
    const site = fresh('a');
    await on.belay('freeze', '--site', site, ...HOUR);
    const { code, stdout } = await on.belay('deploy', '--site', site, ...DEPLOY_PACE, ...off(site, ...CVE));
    assert.equal(code, 0);
    assert.match(stdout, new RegExp(`was let off the freeze "freeze:site:${site}", by ".+" because "CVE"`));
  });

  for (const [what, args, expected] of [
    ['without a reason', [], 2],
    ['of a freeze with --no-override', CVE, 6],
  ] as const) {
    test(`${what} exits with ${expected}, and nothing is sent`, async () => {
      const site = fresh('a');
      await on.belay('freeze', '--site', site, ...HOUR, '--no-override');
      const { code } = await on.belay('deploy', '--site', site, ...DEPLOY_PACE, ...off(site, ...args));
      assert.deepEqual([code, posts(on.sandbox, `/v1/sites/${site}/deploy`).length], [expected, 0]);
    });
  }
});

interface Listed {
  frozen: boolean;
  freezes: { name: string; source: string; isActive: boolean; from: string | null; until: string | null }[];
}

describe('a run with --if-frozen wait', () => {
  /** It goes on at a moment that its id decides: one that comes soon. */
  const soonKey = (site: string): string => {
    const keys = Array.from({ length: 1_000 }, (_, index) => `k${index}`);
    return keys.find((key) => spreadOf(runWorkflowId('deployOnly', { siteIds: [site] }, key)) < 1_500)!;
  };

  test('is shown as frozen, and goes on when it is thawed', async () => {
    const site = fresh('a');
    await on.belay('freeze', '--site', site, ...HOUR);
    const key = soonKey(site);
    await on.belay('deploy', '--site', site, '--key', key, '--if-frozen', 'wait', ...DEPLOY_PACE, '--detach');
    const query = "BelayPhase = 'frozen' AND ExecutionStatus = 'Running'";
    await eventually('its phase', async () => (await on.client.workflow.count(query)).count === 1);
    const status = await on.belay('status', `deploy:${site}:${key}`);
    assert.match(status.stdout, new RegExp(`now: deployment of ${site}: frozen by "freeze:site:${site}" .*: wait, or`));
    assert.equal(posts(on.sandbox, `/v1/sites/${site}/deploy`).length, 0);
    const { woken } = printed(await on.belay('thaw', '--site', site, ...WHY, '--json'));
    assert.deepEqual(woken, [`deploy:${site}:${key}`]);
    const { code, json } = await on.belay('wait', `deploy:${site}:${key}`, '--json');
    assert.deepEqual([code, json().outcome, json().held.map(({ end }) => end)], [0, 'completed', ['passed']]);
  });

  test('exits with 5 at once if the freeze ends later than it may wait', async () => {
    const site = fresh('a');
    await on.belay('freeze', '--site', site, ...HOUR);
    const { code, stdout } = await on.belay('deploy', '--site', site, '--if-frozen', 'wait', '--freeze-wait', '1m');
    assert.equal(code, 5);
    assert.match(stdout, /this is longer than --freeze-wait 1m allows/);
  });
});

describe('belay schedule apply', () => {
  test('warns of firings in a freeze, and of those that wait for people at night', async () => {
    const path = join(await tempFolder(), 'belay.yaml');
    writeFileSync(
      path,
      `fleets: { frozen: { servers: { 12: { sites: [34] } } } }
rollouts: { all: { fleet: frozen } }
schedules: { nightly: { cron: 0 2 * * *, start: { rollout: all } } }
freezes: { stock: { from: 2020-01-01T00:00, to: 2100-01-01T00:00, reason: inventory } }
approvals: { production: { proof: none } }
`,
    );
    const { code, stdout, stderr } = await runInProcess(['schedule', 'apply', '--dry-run'], {
      ...on.env,
      BELAY_CONFIG: path,
    });
    assert.equal(code, 0, stderr);
    assert.match(
      stdout,
      /belay:frozen:nightly: at \S+ 02:00 it is frozen by "stock" .*, and 30 more of the next firings/,
    );
    assert.match(stdout, /^ {2}belay:frozen:nightly: next (\d{4}-\d\d-\d\d 02:00(, )?){3} \(UTC\)$/m);
    assert.match(
      stdout,
      /belay:frozen:nightly: every firing waits for people \(production\), and perhaps nobody is awake/,
    );
  });
});

describe('belay freezes', () => {
  const CONFIG = `fleets: { shop: { servers: { 12: { sites: [34] } } } }
freezes:
  christmas:
    from: 2126-12-20T18:00
    to: 2127-01-04T06:00
    timeZone: Europe/Berlin
    for: { fleets: [shop] }
    reason: season
  always: { from: 2020-01-01T00:00, to: 2120-01-01T00:00, for: { sites: [35] }, reason: gone }
`;

  const freezes = (...args: string[]) => freezesIn(CONFIG, ...args);

  async function freezesIn(
    file: string,
    ...args: string[]
  ): Promise<{ code: number | null; stdout: string; stderr: string; list: () => Listed }> {
    const path = join(await tempFolder(), 'belay.yaml');
    writeFileSync(path, file);
    const finished = await runInProcess(['freezes', ...args], { ...on.env, BELAY_CONFIG: path });
    return { ...finished, list: () => JSON.parse(finished.stdout) as Listed };
  }

  for (const [what, args, code, names] of [
    ['a site that is free', ['--site', '34'], 0, ['christmas']],
    ['a site that is frozen', ['--site', '35'], 5, ['always']],
    ['a site at a time in a freeze', ['--site', '34', '--at', '2126-12-24T12:00Z'], 5, ['christmas']],
    ['a site before the freeze begins on its clocks', ['--site', '34', '--at', '2126-12-20T16:59Z'], 0, ['christmas']],
    ['a site when the freeze begins on its clocks', ['--site', '34', '--at', '2126-12-20T17:00Z'], 5, ['christmas']],
    ['everything', [], 5, ['always', 'christmas']],
    ['everything at a time without a freeze', ['--at', '2125-01-01T00:00Z'], 0, ['christmas', 'always']],
  ] as [string, string[], number, string[]][]) {
    test(`exit with ${code} for ${what}`, async () => {
      const found = await freezes(...args, '--json');
      const fromFile = found.list().freezes.filter(({ source }) => source === 'belay.yaml');
      assert.deepEqual([found.code, found.list().frozen, fromFile.map(({ name }) => name)], [code, code === 5, names]);
    });
  }

  test('another spelling of a known site is refused, because nothing would hold it back', async () => {
    const { code, stdout, stderr } = await freezes('--site', '035');
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(
      stderr,
      /site 035 differs from the known site 35 only in its spelling: write 35; if it is another site/,
    );
  });

  test('a site that no fleet has is free, with a note', async () => {
    const { code, stderr } = await freezes('--site', '99');
    assert.equal(code, 0);
    assert.match(stderr, /^note: no fleet has site 99: check the id$/m);
  });

  test('without a belay.yaml, it says that planned freezes are not in the list', async () => {
    const { code, stderr } = await runInProcess(['freezes', '--site', '34'], { ...on.env, BELAY_CONFIG: '' });
    assert.equal(code, 0);
    assert.match(
      stderr,
      /^there is no belay\.yaml here, so the freezes and windows that the workers plan are not listed$/m,
    );
  });

  for (const [what, night, day, code] of [
    ['if the windows of one fleet are closed', '{ fleets: [shop] }', '{ fleets: [blog] }', 5],
    ['if a window is closed, and another one is open for everything in it', '{}', '{ fleets: [blog] }', 0],
    ['if the only window of what is in no fleet is closed', '{ fleets: [shop, blog] }', '{}', 5],
    ['if the window of one site is closed', '{ fleets: [shop] }', '{ sites: [77] }', 5],
  ] as [string, string, string, number][]) {
    test(`exit with ${code} ${what}`, async () => {
      const file = `fleets: { shop: { servers: { 12: { sites: [34] } } }, blog: { servers: { 13: } } }
windows:
  night: { cron: 0 2 * * *, lasts: 2h, for: ${night} }
  day: { cron: 0 12 * * *, lasts: 2h, for: ${day} }
`;
      const found = await freezesIn(file, '--at', '2126-12-24T03:00Z', '--json');
      assert.deepEqual([found.code, found.list().frozen], [code, code === 5], found.stdout);
    });
  }

  test('list those of belay freeze for a site at once, and print when each begins and ends in its zone', async () => {
    await on.belay('freeze', '--server', '12', ...HOUR);
    const { code, list } = await freezes('--site', '34', '--json');
    assert.deepEqual([code, list().freezes.map(({ name }) => name)], [5, ['freeze:server:12', 'christmas']]);
    const { stdout } = await freezes('--site', '34');
    assert.match(
      stdout,
      /^frozen {3}freeze:server:12 until [\d-]+ [\d:]{8} \(UTC\), (1h|[56]\dm) more, by ana: disks$/m,
    );
    const later = 'from 2126-12-20 18:00 (Europe/Berlin) until 2127-01-04 06:00 (Europe/Berlin): season';
    assert.match(
      stdout,
      new RegExp(`^later {4}christmas \\(for fleets shop\\) ${later.replaceAll(/[()]/g, '\\$&')}$`, 'm'),
    );
    await on.belay('thaw', '--server', '12', ...WHY);
    assert.equal((await freezes('--site', '34')).code, 0);
  });
});
