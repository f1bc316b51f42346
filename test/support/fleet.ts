/** Rolls out a fleet while its worker is killed, and checks the result by the journal of the sandbox. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import { connectTo } from './connect.ts';
import type { RolloutResult } from '../../src/features/rollouts/shapes.ts';
import type { JournalEntry } from '../../src/sandbox/state.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import { connect } from '../../src/starter.ts';
import { atEnd } from './at-end.ts';
import { eventually } from './eventually.ts';
import { began } from './journal.ts';
import { startWorkerProcess, type Started } from './processes.ts';
import { endOf, rolloutOf, servers, type ServerOfSites } from './rollouts.ts';
import type { Place } from './shared-temporal.ts';
import { temporalEnv, TOKEN } from './world.ts';

export interface FleetOptions {
  servers: number;
  sites: number;
  atOnce: number;
  /** One deployment out of this number fails. */
  oneFailsOf: number;
  backupMs: number;
  deploymentMs: number;
  intervalMs: number;
  kills: number;
  /** Whether each site has a deployment already. Without one, a run reads twice before it requests the first. */
  deployedBefore?: boolean;
}

export interface FleetReport {
  result: RolloutResult;
  wallMs: number;
  /** The shortest time that the limit and the service's durations allow. */
  bestMs: number;
  atOnce: number;
  /** The size of the rollout's own history. */
  history: { events: number; bytes: number };
  targets: readonly ServerOfSites[];
  /** What the service received. */
  journal: readonly JournalEntry[];
  beganMs: number;
}

type TemporalPlace = Pick<Place, 'address' | 'namespace'>;

export async function rollFleet(options: FleetOptions, temporal: TemporalPlace): Promise<FleetReport> {
  const { backupMs, deploymentMs, intervalMs, atOnce } = options;
  const defaults = { backup: { durationMs: backupMs }, deployment: { durationMs: deploymentMs } };
  const sandbox = await startSandbox({ token: TOKEN, defaults });
  atEnd(() => sandbox.close());
  const { address, namespace } = temporal;
  const env = { ...temporalEnv(temporal), BELAY_API_URL: sandbox.url, BELAY_API_TOKEN: TOKEN };
  let worker = await startWorkerProcess(env);
  const connection = await connectTo(address);
  atEnd(() => connection.close());
  const belay = await connect({ connection, namespace, taskQueue: 'belay' });

  const targets = servers(options.servers, options.sites / options.servers);
  if (options.deployedBefore === true) deployAll(sandbox, targets);
  const failing = failingSites(targets, options.oneFailsOf);
  for (const site of failing) sandbox.script({ site }, { durationMs: deploymentMs, ends: 'failed' });
  const pace = { intervalMs, tries: 400 };
  const more = {
    maxAtOnce: atOnce,
    maxFailures: failing.size,
    options: { backup: pace, deploy: pace, keepGoing: true },
  };
  const beganMs = Date.now();
  const rollout = await belay.rollouts.start(rolloutOf(targets, more));
  const ending = endOf(rollout);
  for (let kill = 1; kill <= options.kills; kill += 1) {
    worker = await killedAfter(worker, sandbox, Math.round((options.servers * kill) / (options.kills + 1)), env);
  }
  const result = await ending;
  const wallMs = Date.now() - beganMs;
  check(sandbox, { targets, failing, result });
  const handle = new Client({ connection, namespace }).workflow.getHandle(rollout.workflowId);
  const { historyLength, historySize } = await handle.describe();
  worker.process.kill('SIGTERM');
  await worker.finished;
  return {
    result,
    wallMs,
    bestMs: (options.servers / atOnce) * (backupMs + (options.sites / options.servers) * deploymentMs),
    atOnce: mostAtOnce(sandbox, targets),
    history: { events: historyLength, bytes: historySize ?? 0 },
    ...{ targets, journal: sandbox.journal, beganMs },
  };
}

function deployAll(sandbox: Sandbox, targets: ServerOfSites[]): void {
  for (const site of targets.flatMap(({ siteIds }) => siteIds)) {
    sandbox.act({ site });
    sandbox.finish({ site }, 'completed');
  }
}

function failingSites(targets: ServerOfSites[], oneOf: number): Set<string> {
  const sites = targets.flatMap(({ siteIds }) => siteIds);
  return new Set(sites.filter((_, index) => index % oneOf === oneOf - 1));
}

/** Kills the worker once this number of backups have begun. */
async function killedAfter(worker: Started, sandbox: Sandbox, backups: number, env: Record<string, string>) {
  const begun = () => sandbox.journal.filter((entry) => entry.began?.kind === 'backup').length;
  await eventually(`${backups} backups`, () => begun() >= backups, 1_200);
  await sleep(100);
  worker.process.kill('SIGKILL');
  await worker.finished;
  return startWorkerProcess(env);
}

/** Each server has the right outcome and one deployment per site. A backup whose request may be lost can repeat. */
function check(
  sandbox: Sandbox,
  { targets, failing, result }: { targets: ServerOfSites[]; failing: Set<string>; result: RolloutResult },
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

/** How many servers overlap between the first and the last request about them or their sites. */
function mostAtOnce({ journal }: Sandbox, targets: ServerOfSites[]): number {
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
