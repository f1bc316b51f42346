/** A fleet that is rolled out for real, its worker killed on the way; checked by the journal of the sandbox. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import type { RolloutResult, RolloutTarget } from '../../src/contract/rollout.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { connect } from '../../src/starter.ts';
import { atEnd } from './at-end.ts';
import { eventually } from './eventually.ts';
import { began } from './journal.ts';
import { startWorkerProcess, type Started } from './processes.ts';
import { endOf, rolloutOf, servers } from './rollouts.ts';
import { startTemporal } from './temporal.ts';
import { TOKEN } from './world.ts';

export interface FleetOptions {
  servers: number;
  sites: number;
  atOnce: number;
  /** One of so many deployments fails. */
  oneFailsOf: number;
  backupMs: number;
  deploymentMs: number;
  intervalMs: number;
  kills: number;
}

export interface FleetReport {
  result: RolloutResult;
  wallMs: number;
  /** What the limit and the service's own durations allow at best. */
  bestMs: number;
  atOnce: number;
  /** Of the rollout's own history. */
  history: { events: number; bytes: number };
}

export async function rollFleet(options: FleetOptions): Promise<FleetReport> {
  const { backupMs, deploymentMs, intervalMs, atOnce } = options;
  const defaults = { backup: { durationMs: backupMs }, deployment: { durationMs: deploymentMs } };
  const sandbox = await startSandbox({ token: TOKEN, defaults });
  atEnd(() => sandbox.close());
  const { address } = await startTemporal();
  const env = { TEMPORAL_ADDRESS: address, BELAY_API_URL: sandbox.url, BELAY_API_TOKEN: TOKEN };
  let worker = await startWorkerProcess(env);
  const connection = await Connection.connect({ address });
  atEnd(() => connection.close());
  const belay = await connect({ connection, taskQueue: 'belay' });

  const targets = servers(options.servers, options.sites / options.servers);
  const failing = failingSites(targets, options.oneFailsOf);
  for (const site of failing) sandbox.script({ site }, { durationMs: deploymentMs, ends: 'failed' });
  const pace = { intervalMs, tries: 400 };
  const more = {
    maxAtOnce: atOnce,
    maxFailures: failing.size,
    options: { backup: pace, deploy: pace, keepGoing: true },
  };
  const begunMs = Date.now();
  const rollout = await belay.rollouts.start(rolloutOf(targets, more));
  const ending = endOf(rollout);
  for (let kill = 1; kill <= options.kills; kill += 1) {
    worker = await killedAfter(worker, sandbox, Math.round((options.servers * kill) / (options.kills + 1)), env);
  }
  const result = await ending;
  const wallMs = Date.now() - begunMs;
  check(sandbox, { targets, failing, result });
  const handle = new Client({ connection }).workflow.getHandle(rollout.workflowId);
  const { historyLength, historySize } = await handle.describe();
  return {
    result,
    wallMs,
    bestMs: (options.servers / atOnce) * (backupMs + (options.sites / options.servers) * deploymentMs),
    atOnce: mostAtOnce(sandbox, targets),
    history: { events: historyLength, bytes: historySize ?? 0 },
  };
}

function failingSites(targets: RolloutTarget[], oneOf: number): Set<string> {
  const sites = targets.flatMap(({ siteIds }) => siteIds);
  return new Set(sites.filter((_, index) => index % oneOf === oneOf - 1));
}

/** SIGKILL, once so many backups have begun. */
async function killedAfter(worker: Started, sandbox: Sandbox, backups: number, env: Record<string, string>) {
  const begun = () => sandbox.journal.filter((entry) => entry.began?.kind === 'backup').length;
  await eventually(`${backups} backups`, () => begun() >= backups, 600_000);
  await sleep(100);
  worker.process.kill('SIGKILL');
  await worker.finished;
  return startWorkerProcess(env);
}

/** The right outcome for each, and nothing twice: only of a backup whose request may have been lost there are two. */
function check(
  sandbox: Sandbox,
  { targets, failing, result }: { targets: RolloutTarget[]; failing: Set<string>; result: RolloutResult },
): void {
  const ends = new Map(result.targets.map((it) => [it.serverId, it]));
  const siteEnds = new Map(result.targets.flatMap((it) => it.deployments.map((end) => [end.siteId, end.outcome])));
  for (const { serverId, siteIds } of targets) {
    const target = ends.get(serverId);
    const hasFailure = siteIds.some((siteId) => failing.has(siteId));
    assert.equal(target?.outcome, hasFailure ? 'failed' : 'completed', `server ${serverId}: ${target?.error?.message}`);
    assert.ok(began(sandbox, 'backup', serverId).length <= 2, `backups of ${serverId}`);
    for (const siteId of siteIds) {
      assert.equal(siteEnds.get(siteId), failing.has(siteId) ? 'failed' : 'completed', `site ${siteId}`);
      assert.equal(began(sandbox, 'deployment', siteId).length, 1, `deployments of ${siteId}`);
    }
  }
  assert.equal(result.deployments.failed, failing.size);
}

/** From the first request about a server or its sites to the last: how many such times overlap. */
function mostAtOnce({ journal }: Sandbox, targets: RolloutTarget[]): number {
  const servers = new Map(
    targets.flatMap((it) => [it.serverId, ...it.siteIds].map((id) => [id, it.serverId] as const)),
  );
  const spans = new Map<string, { fromMs: number; toMs: number }>();
  for (const { at, request } of journal) {
    const server = servers.get(/\/v1\/(?:sites|servers)\/([^/]+)\//.exec(request)?.[1] ?? '');
    if (server === undefined) continue;
    const ms = Date.parse(at);
    spans.set(server, { fromMs: spans.get(server)?.fromMs ?? ms, toMs: ms });
  }
  const all = [...spans.values()];
  return Math.max(...all.map(({ fromMs }) => all.filter((it) => it.fromMs <= fromMs && it.toMs >= fromMs).length));
}
