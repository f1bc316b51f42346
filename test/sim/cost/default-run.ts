/** The run whose cost docs/reference/cost.md shows: nothing fails, and its status is not queried. */
import type { Waits } from '../../../src/contract/run.ts';
import { actFromOutside } from '../../../src/sandbox/controls.ts';
import type { JournalEntry } from '../../../src/sandbox/state.ts';
import { bundleFromSource } from '../../../src/worker/bundle/bundle-from-source.ts';
import { openSandboxes, type Sandboxes } from '../core/sdk.ts';
import { startRun } from '../plays/start-run.ts';
import { recordedTape } from '../tape.ts';
import { createWorld, START_MS } from '../world.ts';
import { costsOf, type Costs } from './count-cost.ts';

export const BACKUP_MS = 180_000;
export const DEPLOYMENT_MS = 60_000;

const HOUR_MS = 3_600_000;

export interface DefaultRun {
  costs: Costs;
  /** The run, its operations and the record of its backup. */
  executions: { type: string; events: number }[];
  /** To the service: `GET /v1/backups/{id}`. */
  requests: { request: string; count: number }[];
}

interface Played {
  backupMs: number;
  waits?: Waits;
}

export async function playDefaultRuns(played: readonly Played[]): Promise<DefaultRun[]> {
  const sandboxes = await openSandboxes(await bundleFromSource());
  const runs: DefaultRun[] = [];
  for (const it of played) runs.push(await playDefaultRun(sandboxes, it));
  await sandboxes.close();
  return runs;
}

async function playDefaultRun(sandboxes: Sandboxes, { backupMs, ...input }: Played): Promise<DefaultRun> {
  const world = createWorld(sandboxes, recordedTape([]), {
    ...{ workers: 1, cacheSize: 1_000, crashes: 0, stalls: 0, clockSpreadMs: 0 },
    defaults: { backup: { durationMs: backupMs }, deployment: { durationMs: DEPLOYMENT_MS } },
  });
  const { clock, server, service } = world;
  // The site was deployed before.
  service.state.script({ type: 'site', id: 'a1' }, [{ durationMs: 0 }, { durationMs: DEPLOYMENT_MS }]);
  actFromOutside(service.state, { type: 'site', id: 'a1' });
  startRun(server, { serverId: 's1', siteIds: ['a1'], ...input }, 'k1');
  await clock.run(START_MS + HOUR_MS, () => server.runs.every(({ closedMs }) => closedMs !== null));
  world.endWorkers();
  return {
    costs: costsOf(server.runs),
    executions: server.runs.map(({ type, history }) => ({ type, events: history.length })),
    requests: countRequests(service.state.journal),
  };
}

function countRequests(journal: readonly JournalEntry[]): DefaultRun['requests'] {
  const counts = new Map<string, number>();
  for (const { by, request } of journal) {
    if (by !== 'api') continue;
    const route = request.replace(/(?<=\/(?:sites|servers|backups)\/)[^/]+/, '{id}');
    counts.set(route, (counts.get(route) ?? 0) + 1);
  }
  return [...counts].map(([request, count]) => ({ request, count }));
}
