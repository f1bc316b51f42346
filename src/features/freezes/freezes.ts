/** What `belay freezes` does: it lists freezes and windows, and exits with whether something is frozen. */
import { configFile } from '../../config/environment/environment.ts';
import { readConfiguration } from '../../config/load.ts';
import { SCHEMA_VERSION } from '../../contract/names.ts';
import type { Target } from '../../contract/target.ts';
import { createJudge } from './worker.ts';
import { policyOf } from '../../config/policy.ts';
import { printJson } from '../../process/json-document.ts';
import { print, printNote } from '../../process/print.ts';
import { TIMING } from '../../contract/timing.ts';
import type { Belay } from '../../starter.ts';
import { withBelay } from '../../cli/open-belay.ts';
import { EXIT } from '../../contract/exit-codes.ts';
import { adHocEntry, entryLine, fileEntry, type FreezeEntry } from './freeze-list.ts';

export interface FreezesOptions {
  targets?: Target[];
  at?: string;
  json?: boolean;
}

export async function freezes({ targets = [], at, json: asJson }: FreezesOptions): Promise<void> {
  const configuration = await readConfiguration();
  const atMs = at === undefined ? Date.now() : Date.parse(at);
  const { frozen, entries } = await withBelay((belay) => listed(belay, configuration, targets, atMs));
  process.exitCode = frozen ? EXIT.busy : EXIT.completed;
  if (asJson === true) {
    const instant = new Date(atMs).toISOString();
    return printJson({ schemaVersion: SCHEMA_VERSION, at: instant, frozen, freezes: entries, error: null });
  }
  print(entries.length === 0 ? 'no freezes and no windows' : entries.map((it) => entryLine(it, atMs)));
  printNote(
    `freezes and windows of ${configFile().path} are those of this machine: the workers judge by their own file`,
  );
}

async function listed(
  belay: Belay,
  configuration: Awaited<ReturnType<typeof readConfiguration>>,
  targets: readonly Target[],
  atMs: number,
): Promise<{ frozen: boolean; entries: FreezeEntry[] }> {
  const policy = policyOf(configuration);
  const operations = targets.map((target) => ({ target }));
  const ids = [...new Set(operations.flatMap(policy.adHocIds))];
  const running = await (operations.length === 0 ? belay.freezes.list() : belay.freezes.find(ids));
  const entries = [
    ...running.map((it) => adHocEntry(it, atMs)),
    ...policy.list(operations, atMs).map((it) => fileEntry(it)),
  ];
  if (operations.length === 0) return { frozen: isAnythingFrozen(entries), entries };
  const judge = createJudge(
    () => Promise.resolve(policy),
    () => Promise.resolve(running),
  );
  const frozenAt = await judge.look({ operations }, TIMING.client.startMs);
  return { frozen: operations.some((it) => frozenAt(it, atMs).length > 0), entries };
}

/** Windows hold something back if none is open. */
function isAnythingFrozen(entries: readonly FreezeEntry[]): boolean {
  const windows = entries.filter(({ kind }) => kind === 'window');
  const isClosed = windows.length > 0 && !windows.some(({ isActive }) => isActive);
  return isClosed || entries.some(({ kind, isActive }) => kind === 'freeze' && isActive);
}
