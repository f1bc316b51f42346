import '../../support/timing/use-patient.ts';
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { WorkflowNotFoundError } from '@temporalio/client';
import { commandsOn, type Commands } from '../../support/commands.ts';
import { eventually } from '../../support/eventually.ts';
import { runInProcess } from '../../support/in-process.ts';
import { began, posts } from '../../support/journal.ts';
import { tempFolder } from '../../support/temporal.ts';
import { fresh } from '../../support/world.ts';

let on: Commands;
before(async () => {
  on = await commandsOn('runs');
});

interface DryRun {
  started: boolean;
  plan: { runs: { serverId: string | null; targets: { id: string }[]; wave: string | null }[] };
  service: string;
  freezes: { frozen: { what: string; by: { name: string }[] }[] };
  locks: { held: { lockId: string; lockedBy: string | null }[] };
}

const HOUR = ['--for', '1h', '--reason', 'disks'];
const isStarted = (workflowId: string) =>
  on.client.workflow
    .getHandle(workflowId)
    .describe()
    .then(
      () => true,
      (error: unknown) => !(error instanceof WorkflowNotFoundError),
    );

describe('--dry-run', () => {
  test('shows the plan, the service, the freezes and the locks, and starts nothing', async () => {
    const [server, site] = [fresh('s'), fresh('a')];
    const { code, stdout } = await on.belay('run', '--server', server, '--site', site, '--dry-run');
    assert.equal(code, 0);
    assert.match(
      stdout,
      new RegExp(`^1\\. back up server ${server}\\n2\\. deploy site ${site}\\neach backup: at most 20`),
    );
    assert.match(
      stdout,
      /\nservice: http.+\nfreezes: none holds it back now\napprovals: no one is asked\nlocks: none is held\nchecks: no site has one\n/,
    );
    assert.match(stdout, /\nduration: not known, too few of its operations ended lately\n/);
    assert.match(stdout, /dry run: nothing was started\n$/);
    const sent = [`/v1/servers/${server}/backups`, `/v1/sites/${site}/deploy`].flatMap((it) => posts(on.sandbox, it));
    assert.deepEqual([await isStarted(`backup-then-deploy:${server}:k`), sent.length], [false, 0]);
  });

  test('shows what is frozen, and what is let off', async () => {
    const site = fresh('a');
    await on.belay('freeze', '--site', site, ...HOUR);
    const args = ['deploy', '--site', site, '--dry-run'];
    const { stdout } = await on.belay(...args);
    assert.match(stdout, new RegExp(`freezes: deployment of site ${site}: frozen by "freeze:site:${site}"`));
    assert.match(stdout, /^it would end with Frozen, exit code 5$/m);
    assert.match((await on.belay(...args, '--if-frozen', 'wait')).stdout, /^it would wait$/m);
    const both = ['run', '--server', fresh('s'), '--site', fresh('a'), '--site', site, '--dry-run'];
    const endOf = async (...more: string[]) => /^it would .*$/m.exec((await on.belay(...both, ...more)).stdout)?.[0];
    assert.deepEqual(
      [await endOf(), await endOf('--keep-going'), await endOf('--if-frozen', 'wait')],
      [
        'it would do what comes before that, and end with Frozen, exit code 5',
        'it would do the rest, and end with Frozen, exit code 5',
        'it would do what comes before that, and wait',
      ],
    );
    const off = ['--override-freeze', `freeze:site:${site}`, '--reason', 'CVE'];
    assert.match((await on.belay(...args, ...off)).stdout, /let off: the freeze .*\nfreezes: none holds it back now/);
  });

  test('shows which lock is held, and by which run', async () => {
    const [server, site] = [fresh('s'), fresh('a')];
    on.sandbox.script({ server }, { ends: 'never' });
    const { stdout } = await on.belay('backup', '--server', server, '--detach', '--json');
    const { workflowId } = JSON.parse(stdout) as { workflowId: string };
    const look = async () => {
      const { stdout: shown } = await on.belay('run', '--server', server, '--site', site, '--dry-run', '--json');
      return JSON.parse(shown) as DryRun;
    };
    await eventually('the lock and its holder', async () => (await look()).locks.held[0]?.lockedBy);
    const { started, locks, freezes, plan } = await look();
    assert.deepEqual([started, freezes.frozen, plan.runs[0]?.serverId], [false, [], server]);
    assert.deepEqual(locks.held, [{ lockId: `backup-server:${server}`, lockedBy: workflowId }]);
    // A lock is taken before anything is requested under it.
    await eventually('its backup', () => began(on.sandbox, 'backup', server)[0]);
    on.sandbox.finish({ server }, 'completed');
  });

  test('shows the waves of a rollout, and starts nothing', async () => {
    const config = join(await tempFolder(), 'belay.yaml');
    writeFileSync(
      config,
      `fleets: { shop: { servers: { 12: { sites: [34] }, 13: { sites: [35] } } } }
rollouts: { steady: { fleet: shop, maxAtOnce: 2 } }
freezes: { stock: { from: 2020-01-01T00:00, to: 2100-01-01T00:00, for: { sites: [35] }, reason: inventory } }
`,
    );
    const env = { ...on.env, BELAY_CONFIG: config };
    const { code, stdout } = await runInProcess(
      ['rollout', 'start', 'steady', '--key', 'k', '--dry-run', '--json'],
      env,
    );
    const { plan, freezes } = JSON.parse(stdout) as DryRun;
    assert.equal(code, 0);
    assert.deepEqual(
      plan.runs.map(({ serverId, targets }) => [serverId, ...targets.map(({ id }) => id)]),
      [
        ['12', '34'],
        ['13', '35'],
      ],
    );
    assert.deepEqual(
      freezes.frozen.map(({ what, by }) => [what, by[0]?.name]),
      [['deployment of site 35', 'stock']],
    );
    assert.equal(await isStarted('rollout:steady:k'), false);
  });

  test('shows whom a rollout asks, and before which wave', async () => {
    const config = join(await tempFolder(), 'belay.yaml');
    writeFileSync(
      config,
      `fleets: { shop: { servers: { 12: { sites: [34] }, 13: { sites: [35] } } } }
rollouts: { steady: { fleet: shop, waves: [{ name: canary, servers: 1 }, { name: rest, servers: 1, approval: late }] } }
approvals:
  early: { proof: none, for: { sites: [34] } }
  late: { proof: none, need: 2, from: [ana, bob], for: { sites: [35] } }
`,
    );
    const args = ['rollout', 'start', 'steady', '--dry-run', '--approval', 'other'];
    const { code, stdout } = await runInProcess(args, { ...on.env, BELAY_CONFIG: config });
    assert.equal(code, 0);
    const lines = stdout.split('\n').filter((line) => line.startsWith('approvals: '));
    assert.deepEqual(lines, [
      'approvals: early, 1 (audit only), before the first server',
      'approvals: other, which is not in the belay.yaml of this machine, before the first server',
      'approvals: late, 2 of ana, bob (audit only), before wave rest',
    ]);
  });

  test('shows what follows a wave of a rollout', async () => {
    const config = join(await tempFolder(), 'belay.yaml');
    writeFileSync(
      config,
      `fleets: { shop: { servers: { 12: { sites: [34] }, 13: { sites: [35] } } } }
gates: { smoke: { prometheus: 'http://127.0.0.1:9090', query: up, max: 1 } }
rollouts:
  steady: { fleet: shop, waves: [{ name: canary, servers: 1, after: { bake: 10m, gates: [smoke] } }, { name: rest, servers: 1 }] }
`,
    );
    const env = { ...on.env, BELAY_CONFIG: config };
    const { code, stdout, stderr } = await runInProcess(['rollout', 'start', 'steady', '--dry-run'], env);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^after wave canary: bakes 10m, then gate smoke$/m);
  });

  test('of a wrong input is the same error as without it', async () => {
    const { code } = await on.belay('deploy', '--site', fresh('a'), '--override-freeze', 'x', '--dry-run');
    assert.equal(code, 2);
  });
});
