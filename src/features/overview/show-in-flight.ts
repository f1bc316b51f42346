/** `belay top`: what is in flight, as one snapshot, or until the user quits. */
import colors from 'picocolors';
import { SCHEMA_VERSION } from '../../contract/names.ts';
import { TIMING } from '../../contract/timing.ts';
import { explainRollout, inFlight as partOf, waitingSentence } from '../../contract/explain-wait.ts';
import type { LiveLine } from '../../process/live-lines.ts';
import type { Belay, InFlight, LiveOverview, Overview } from '../../starter.ts';
import { follow } from '../../cli/follow.ts';
import { contactText } from '../../cli/run-live.ts';
import { inFlightTable, overviewText, type Ended } from './in-flight-table.ts';
import { screenLines } from '../../cli/table.ts';
import { showUntilQuit, type Terminal } from './screen.ts';

/** One line for each, and a line that counts them. */
export function overviewLines(overview: Overview, ended: readonly Ended[] = []): LiveLine[] {
  const isEmpty = overview.inFlight.length + ended.length === 0;
  const table = isEmpty ? [] : inFlightTable({ ...overview, ended }, Date.now(), null);
  return [...table, overviewText(overview)];
}

/** @param ended null: nobody asked for it */
export function overviewDocument(
  { inFlight, total, complete }: Overview,
  ended: readonly Ended[] | null = null,
): object {
  const recent = ended === null ? {} : { recent: ended.map(({ result }) => result) };
  const runs = inFlight.filter(({ kind }) => kind === 'run').map(entryOf);
  const rollouts = inFlight.filter(({ kind }) => kind === 'rollout').map(entryOf);
  return { schemaVersion: SCHEMA_VERSION, runs, rollouts, total, complete, ...recent, error: null };
}

/** As `status --json` shows it, and how it is reached. */
function entryOf(it: InFlight): object {
  const { result, waiting, contact } = it.status;
  return { ...result, waiting, why: contactText(it.status) ?? whyOf(it), contact, needsAttention: it.needsAttention };
}

function whyOf({ kind, status }: InFlight): string | null {
  if (status.waiting === null) return null;
  if (kind === 'rollout') return explainRollout(status.waiting, status.result.phase).sentence;
  return waitingSentence(status.waiting, partOf(status.result));
}

export interface RecentlyEnded {
  /** The last one to end first. */
  now(): readonly Ended[];
  /** Asks about what was in flight before and is so no longer. */
  follow(overview: Overview): Promise<void>;
}

/** What began in this time and has ended. Each is asked about once. */
export async function recentlyEnded(belay: Belay, forMs: number, limit: number): Promise<RecentlyEnded> {
  const since = new Date(Date.now() - forMs).toISOString();
  const [runs, rollouts] = await Promise.all([belay.list({ since, limit }), belay.rollouts.list({ since, limit })]);
  const ended = new Map<string, Ended>();
  const add = (it: Ended) => it.result.endedAt !== null && ended.set(`${it.result.workflowId} ${it.result.runId}`, it);
  for (const result of runs) add({ kind: 'run', result });
  for (const result of rollouts) add({ kind: 'rollout', result });
  let before: readonly InFlight[] = [];

  return {
    now: () =>
      [...ended.values()]
        .sort((a, b) => (b.result.endedAt ?? '').localeCompare(a.result.endedAt ?? ''))
        .slice(0, limit),
    async follow({ inFlight }) {
      const open = new Set(inFlight.map(({ status }) => status.result.runId));
      const gone = before.filter(({ status }) => !open.has(status.result.runId));
      before = inFlight;
      for (const { kind, workflowId, status } of gone) {
        const runId = status.result.runId ?? undefined;
        if (kind === 'run') add({ kind, result: (await belay.get(workflowId, runId).status()).result });
        else add({ kind, result: (await belay.rollouts.get(workflowId, runId).status()).result });
      }
    },
  };
}

/** @param where Temporal is, for the title. @param recent null: what has ended is not shown. @returns the exit code */
export async function showOverview(
  overviews: LiveOverview,
  where: string,
  terminal: Terminal,
  recent: RecentlyEnded | null = null,
): Promise<number> {
  const refresh = async () => {
    const seen = await overviews.refresh();
    await recent?.follow(seen);
    return seen;
  };
  // A mistake in the configuration ends the command.
  let overview = await refresh();
  let problem: string | null = null;
  const following = follow(
    () => refresh().catch((error: unknown) => error as Error),
    (seen) => {
      if (seen instanceof Error) problem = seen.message;
      else [overview, problem] = [seen, null];
    },
    TIMING.cli.terminalPeriodMs,
  );
  try {
    return await showUntilQuit(({ rows, columns }) => {
      const title = `${overviewText(overview)} on ${where}. Press q to quit.`;
      const head = problem === null ? [title] : [title, { text: problem, paint: colors.red }];
      const ended = recent?.now() ?? [];
      return screenLines(head, inFlightTable({ ...overview, ended }, Date.now(), columns), rows);
    }, terminal);
  } finally {
    following.stop();
  }
}
