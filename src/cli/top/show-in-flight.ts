/** `belay top`: what is in flight, as one snapshot, or until the user quits. */
import colors from 'picocolors';
import { SCHEMA_VERSION } from '../../contract/names.ts';
import { TIMING } from '../../contract/budgets/timing.ts';
import { explainRollout, inFlight as partOf, waitingSentence } from '../../contract/wording/explain-wait.ts';
import type { LiveLine } from '../../process/live-lines.ts';
import type { InFlight, LiveOverview, Overview } from '../../starter.ts';
import { follow } from '../waiting/follow.ts';
import { contactText } from '../waiting/run-live.ts';
import { inFlightTable, overviewText } from './in-flight-table.ts';
import { screenLines } from '../output/table.ts';
import { showUntilQuit, type Terminal } from './until-quit.ts';

/** One line for each, and a line that counts them. */
export function overviewLines(overview: Overview): LiveLine[] {
  const table = overview.inFlight.length === 0 ? [] : inFlightTable(overview, Date.now(), null);
  return [...table, overviewText(overview)];
}

export function overviewDocument({ inFlight, total, complete }: Overview): object {
  const runs = inFlight.filter(({ kind }) => kind === 'run').map(entryOf);
  const rollouts = inFlight.filter(({ kind }) => kind === 'rollout').map(entryOf);
  return { schemaVersion: SCHEMA_VERSION, runs, rollouts, total, complete, error: null };
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

/** @param where Temporal is, for the title. @returns the exit code */
export async function showOverview(overviews: LiveOverview, where: string, terminal: Terminal): Promise<number> {
  // A mistake in the configuration ends the command.
  let overview = await overviews.refresh();
  let problem: string | null = null;
  const following = follow(
    () => overviews.refresh().catch((error: unknown) => error as Error),
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
      return screenLines(head, inFlightTable(overview, Date.now(), columns), rows);
    }, terminal);
  } finally {
    following.stop();
  }
}
