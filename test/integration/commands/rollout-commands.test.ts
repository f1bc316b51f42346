import '../../support/timing/use-patient.ts';
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import type { RolloutResult } from '../../../src/features/rollouts/shapes.ts';
import type { RolloutWaiting } from '../../../src/contract/waiting.ts';
import { commandsOn, type Commands } from '../../support/commands.ts';
import { eventually } from '../../support/eventually.ts';
import { began } from '../../support/journal.ts';
import { runInProcess, startInProcess } from '../../support/in-process.ts';
import { start, type Finished } from '../../support/processes.ts';
import { tempFolder } from '../../support/temporal.ts';
import { fresh } from '../../support/world.ts';

let on: Commands;
before(async () => {
  on = await commandsOn('runs');
});

type Shown = RolloutResult & { waiting: RolloutWaiting | null; why: string | null };

interface Fleet {
  servers: string[];
  /** Two of each server. */
  sites: string[][];
  belay: (...args: string[]) => Promise<Finished>;
  env: Record<string, string>;
}

/** A file with one rollout, `steady`, of `count` servers with two sites each. */
async function fleetOf(count: number, more = ''): Promise<Fleet> {
  const servers = Array.from({ length: count }, () => fresh('s'));
  const sites = servers.map(() => [fresh('a'), fresh('a')]);
  const path = join(await tempFolder(), 'belay.yaml');
  writeFileSync(
    path,
    `fleets:
  shop:
    servers:
${servers.map((id, index) => `      ${id}: { sites: [${sites[index]?.join(', ')}] }`).join('\n')}
rollouts:
  steady:
    fleet: shop
    backup: { interval: 500ms, tries: 1000 }
    deploy: { interval: 200ms, tries: 1000 }
    ${more}
`,
  );
  const env = { ...on.env, BELAY_CONFIG: path };
  return { servers, sites, env, belay: (...args) => runInProcess(args, env) };
}

const shown = ({ stdout }: Finished) => JSON.parse(stdout) as Shown;
const backups = (serverId = '') => began(on.sandbox, 'backup', serverId).length;
const deployments = (siteId = '') => began(on.sandbox, 'deployment', siteId).length;
const failing = (siteId = '') =>
  on.sandbox.script({ site: siteId }, { durationMs: 300, ends: 'failed' }, { durationMs: 300 });

describe('belay rollout', { concurrency: 4 }, () => {
  test('start exits with the verdict, prints one line per server, and appends a summary to the file', async () => {
    const { belay, servers, sites } = await fleetOf(2);
    const summary = join(await tempFolder(), 'summary.md');
    writeFileSync(summary, 'before\n');
    const { code, stdout, stderr } = await belay(
      'rollout',
      'start',
      'steady',
      '--key',
      fresh('k'),
      '--summary',
      summary,
    );
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^completed in [\dms]+\n {2}servers: 2 completed\n {2}deployments: 4 completed\n/);
    for (const [index, server] of servers.entries()) {
      const [first, second] = sites[index] ?? [];
      assert.match(
        stderr,
        new RegExp(`^server ${server} \\(all\\): completed, sites: ${first} completed, ${second} completed$`, 'm'),
      );
    }
    const page = readFileSync(summary, 'utf8');
    assert.match(page, /^before\n### Belay: `rollout:steady:k\d+`\n\n\*\*`completed`\*\* \(\[Temporal UI\]\(http/);
    assert.match(page, new RegExp(`\\| \`${servers[1]}\` \\| \`all\` \\| completed \\| 2 completed \\|`));
  });

  test('retry deploys only what is not completed, and reports every server', async () => {
    const { belay, servers, sites } = await fleetOf(3, 'maxFailures: 0');
    const [[done], [kept, broken], [left]] = sites as [string[], string[], string[]];
    failing(broken);
    const key = fresh('k');
    const first = await belay('rollout', 'start', 'steady', '--key', key, '--json');
    assert.deepEqual([first.code, shown(first).servers.not_started], [1, 1]);
    const second = await belay('rollout', 'retry', `rollout:steady:${key}`, '--json');
    const { outcome, attempt, targets, servers: sum, deployments: sites2 } = shown(second);
    assert.deepEqual([second.code, outcome, attempt, sum.completed, sites2.completed], [0, 'completed', 2, 3, 6]);
    assert.deepEqual(
      targets.map(({ serverId }) => serverId),
      servers,
    );
    assert.deepEqual([done, kept, broken, left].map(deployments), [1, 1, 2, 1]);
    assert.equal(backups(servers[0]), 1);
    const third = await belay('rollout', 'retry', `rollout:steady:${key}`, '--json');
    assert.equal(third.code, 2);
    assert.match(
      third.json().error?.message ?? '',
      /everything in rollout:steady:k\d+ is completed: there is nothing to retry/,
    );
  });

  test('a key joins a running rollout, returns the result of a closed one, and is rejected with other input', async () => {
    const { belay, sites } = await fleetOf(1);
    const key = fresh('k');
    const args = ['rollout', 'start', 'steady', '--key', key, '--json'];
    const both = await Promise.all([belay(...args), belay(...args)]);
    const again = await belay(...args, '--meta', 'try=2');
    const ids = [...both, again].map((it) => [it.code, shown(it).runId]);
    assert.deepEqual(ids, [ids[0], ids[0], ids[0]]);
    assert.equal(deployments(sites[0]?.[0]), 1);
    const other = await fleetOf(1);
    const reused = await other.belay(...args);
    assert.deepEqual([reused.code, reused.json().error?.type], [2, 'KeyReused']);
  });

  test('status explains why a rollout waits, and pause, resume and abort record who decided', async () => {
    const { belay, servers } = await fleetOf(2);
    on.sandbox.script({ server: servers[0] ?? '' }, { ends: 'never' });
    const key = fresh('k');
    const id = `rollout:steady:${key}`;
    await belay('rollout', 'start', 'steady', '--key', key, '--detach');
    const running = await eventually('the first server', async () => {
      const status = await belay('status', id, '--json');
      return status.code === 0 && shown(status).waiting?.kind === 'servers' ? shown(status) : null;
    });
    assert.equal(running.why, `1 of at most 1 server running ("${servers[0]}"), 1 pending`);
    const unsigned = await belay('rollout', 'pause', id, '--json');
    assert.deepEqual([unsigned.code, unsigned.json().error?.type], [2, 'Usage']);
    const paused = await belay('rollout', 'pause', id, '--reason', 'the shop is slow', '--by', 'anne');
    assert.match(
      paused.stdout,
      /now: paused by "anne" because "the shop is slow": resume it with `npx belay-deploy rollout resume \S+ --reason TEXT`, or abort it/,
    );
    const row = new RegExp(` paused +${id} +1 running, 1 pending`);
    await eventually('its row', async () => row.test((await belay('rollout', 'list')).stdout));
    assert.equal((await belay('rollout', 'resume', id, '--reason', 'it is quick again')).code, 0);
    const aborted = await belay('rollout', 'abort', id, '--reason', 'no more today', '--json');
    assert.deepEqual(
      shown(aborted).decisions.map(({ action, by }) => [action, by === 'anne']),
      [
        ['pause', true],
        ['resume', false],
        ['abort', false],
      ],
    );
    const stopping = (await belay('rollout', 'status', id)).stdout;
    assert.match(stopping, /\n {2}servers: 1 running, 1 not starting\n/);
    assert.ok(stopping.includes(`\n  server ${servers[1]} (all): not starting\n`), stopping);
    const retry = await belay('rollout', 'retry', id, '--json');
    assert.match(retry.json().error?.message ?? '', /is still running: wait for it to finish, or abort it first/);
    await eventually('the backup', () => backups(servers[0]) === 1);
    on.sandbox.finish({ server: servers[0] ?? '' }, 'completed');
    assert.equal((await belay('wait', id)).code, 8);
    assert.equal((await belay('rollout', 'status', id, '--exit-status')).code, 8);
  });

  test('a rollout continues after --detach, a timeout and Ctrl-C, and belay wait exits with its verdict', async () => {
    const { belay, env, servers } = await fleetOf(1);
    on.sandbox.script({ server: servers[0] ?? '' }, { ends: 'never' });
    const key = fresh('k');
    const id = `rollout:steady:${key}`;
    const detached = await belay('rollout', 'start', 'steady', '--key', key, '--detach', '--json');
    assert.deepEqual([detached.code, shown(detached).outcome], [0, null]);
    const stopped = await belay('wait', id, '--wait-timeout', '1s', '--json');
    assert.deepEqual(
      [stopped.code, shown(stopped).error?.type, shown(stopped).workflowId],
      [124, 'StoppedWaiting', id],
    );
    assert.match(
      stopped.stderr,
      new RegExp(
        `To continue waiting: \`npx belay-deploy wait ${id}\`\\nTo cancel the rollout: \`npx belay-deploy cancel ${id}\``,
      ),
    );
    const interrupted = start(['wait', id], env);
    await eventually('a line', () => interrupted.output.stderr !== '');
    interrupted.process.kill('SIGINT');
    assert.equal((await interrupted.finished).code, 130);
    await eventually('the backup', () => backups(servers[0]) === 1);
    const watching = startInProcess(['status', id, '--watch', '--exit-status'], env);
    await eventually('its progress', () => watching.output.stdout.startsWith('running: 1 running\n'));
    on.sandbox.finish({ server: servers[0] ?? '' }, 'completed');
    assert.equal((await belay('wait', id)).code, 0);
    const watched = await watching.finished;
    assert.equal(watched.code, 0);
    assert.match(
      watched.stdout,
      /\nserver s\d+ \(all\): completed, sites: [^]*\ncompleted in [\dms]+\n {2}servers: 1 completed\n/,
    );
  });

  test('start rejects an unknown name with a remedy, and status an unknown id with NotFound', async () => {
    const { belay } = await fleetOf(1);
    const name = await belay('rollout', 'start', 'stedy', '--json');
    assert.equal(name.code, 2);
    assert.match(name.json().error?.message ?? '', /\/belay\.yaml has no rollout stedy; it has steady$/);
    const id = await belay('rollout', 'status', 'rollout:steady:gone', '--json');
    assert.deepEqual([id.code, id.json().error?.type], [2, 'NotFound']);
    const none = await runInProcess(['rollout', 'start', 'steady', '--json'], { ...on.env, BELAY_CONFIG: '/dev/null' });
    assert.match(none.json().error?.message ?? '', /no rollout steady; it has none: add it under rollouts/);
  });

  test('a retry is let off the freeze that its rollout overrode, and no later one of the same name', async () => {
    const { belay, servers, sites } = await fleetOf(1);
    const scope = ['--server', servers[0] ?? ''];
    const freeze = ['freeze', ...scope, '--for', '1h', '--reason', 'disks'];
    const thaw = ['thaw', ...scope, '--reason', 'over'];
    for (const site of sites[0] ?? []) {
      on.sandbox.script({ site }, { durationMs: 300, ends: 'failed' }, { durationMs: 300, ends: 'failed' }, {});
    }
    const key = fresh('k');
    const id = `rollout:steady:${key}`;
    const retry = async () => {
      const { code, json } = await belay('rollout', 'retry', id, '--json');
      return [code, json().error?.type ?? null];
    };
    await belay(...freeze);
    const off = ['--override-freeze', `freeze:server:${servers[0]}`, '--reason', 'CVE'];
    assert.equal((await belay('rollout', 'start', 'steady', '--key', key, ...off)).code, 1);
    assert.deepEqual(await retry(), [1, 'DeploymentFailed']);
    await belay(...thaw);
    await belay(...freeze);
    assert.deepEqual(await retry(), [5, 'Frozen']);
    await belay(...thaw);
    assert.deepEqual(await retry(), [1, 'DeploymentFailed']);
  });

  test('a terminated rollout ends unknown, reports its runs, and can be retried once they have ended', async () => {
    const { belay, servers, sites } = await fleetOf(2);
    const site = sites[0]?.[0] ?? '';
    on.sandbox.script({ site }, { ends: 'never' });
    const key = fresh('k');
    const id = `rollout:steady:${key}`;
    await belay('rollout', 'start', 'steady', '--key', key, '--detach');
    await eventually('the deployment', () => deployments(site) === 1);
    await on.client.workflow.getHandle(id).terminate('by hand');
    const ended = await belay('wait', id, '--json');
    assert.deepEqual([ended.code, shown(ended).error?.type], [4, 'Terminated']);
    const ran = shown(ended).targets.find(({ serverId }) => serverId === servers[0])?.workflowId;
    assert.equal(shown(ended).error?.message, `the rollout was terminated: by hand; still running: ${ran}`);
    const early = await belay('rollout', 'retry', id, '--json');
    assert.match(
      early.json().error?.message ?? '',
      new RegExp(`backup-then-deploy:${servers[0]}:.* is still running: wait for it to finish`),
    );
    on.sandbox.finish({ site }, 'completed');
    await eventually('its run to end', async () => {
      const { targets, error } = shown(await belay('rollout', 'status', id, '--json'));
      return (
        error?.message === 'the rollout was terminated: by hand' &&
        targets.find(({ serverId }) => serverId === servers[0])?.outcome === 'completed'
      );
    });
    const retried = await belay('rollout', 'retry', id, '--json');
    assert.deepEqual([retried.code, shown(retried).servers.completed], [0, 2]);
    assert.equal(deployments(site), 1);
  });
});

test('list --since prints the totals of a night and writes a summary to the file', async () => {
  const { belay } = await fleetOf(1);
  const summary = join(await tempFolder(), 'night.md');
  const { code, stdout } = await belay('list', '--since', '12h', '--summary', summary);
  assert.equal(code, 0);
  assert.match(stdout, /\n\d+ runs: .*\d+ completed/);
  assert.match(readFileSync(summary, 'utf8'), /^### Belay: \d+ runs: .*\n\n\| started \| run \| outcome \| why \|\n/);
});
