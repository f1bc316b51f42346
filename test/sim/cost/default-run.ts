/** The cost of the run that docs/reference/cost.md shows: nothing fails, and no one watches. */
import { actFromOutside } from '../../../src/sandbox/hosting/outside.ts';
import type { JournalEntry } from '../../../src/sandbox/hosting/state.ts';
import { bundleFromSource } from '../../../src/worker/bundle/bundle-from-source.ts';
import { openSandboxes } from '../core/sdk.ts';
import { startRun } from '../plays/start-run.ts';
import { recordedTape } from '../tape.ts';
import { createWorld, START_MS } from '../world.ts';
import { costsOf, type Costs } from './count-cost.ts';

export const BACKUP_MS = 180_000;
export const DEPLOYMENT_MS = 60_000;

const HOUR_MS = 3_600_000;

export interface DefaultRun {
  costs: Costs;
  journal: readonly JournalEntry[];
  /** Of the run and its operations, with their types. */
  events: { type: string; events: number }[];
}

export async function playDefaultRun(): Promise<DefaultRun> {
  const sandboxes = await openSandboxes(await bundleFromSource());
  const world = createWorld(sandboxes, recordedTape([]), {
    ...{ workers: 1, cacheSize: 1_000, crashes: 0, stalls: 0, clockSpreadMs: 0 },
    defaults: { backup: { durationMs: BACKUP_MS }, deployment: { durationMs: DEPLOYMENT_MS } },
  });
  const { clock, server, service } = world;
  // The site was deployed before.
  service.state.script({ type: 'site', id: 'a1' }, [{ durationMs: 0 }, { durationMs: DEPLOYMENT_MS }]);
  actFromOutside(service.state, { type: 'site', id: 'a1' });
  startRun(server, { serverId: 's1', siteIds: ['a1'] }, 'k1');
  await clock.run(START_MS + HOUR_MS, () => server.runs.every(({ closedMs }) => closedMs !== null));
  world.endWorkers();
  await sandboxes.close();
  return {
    costs: costsOf(server.runs),
    journal: service.state.journal,
    events: server.runs.map(({ type, history }) => ({ type, events: history.length })),
  };
}
