/** A rollout as commands show it: while they wait for it, and when they are asked. */
import { printDocument } from '../document.ts';
import type { RolloutResult } from '../fleet-contract.ts';
import type { Belay, Rollout } from '../starter.ts';
import { whyRollout } from '../why.ts';
import { EXIT, exitCodeOf } from './exit.ts';
import { followRollout, headLine } from './rollout-live.ts';
import { printRollout, printRolloutEnd, rolloutOfError } from './rollout-output.ts';
import { rolloutMarkdown, writeSummary } from './summary.ts';
import type { View } from './waiting.ts';

export const viewOfRollout = (belay: Belay, rollout: Rollout): View<RolloutResult> => ({
  what: 'rollout',
  follow: () => followRollout(belay, rollout),
  print: printRolloutEnd,
  ofError: rolloutOfError,
  markdown: rolloutMarkdown,
});

export interface ShowOptions {
  json?: boolean;
  summary?: string;
  exitStatus?: boolean;
}

export async function showRollout(rollout: Rollout, options: ShowOptions): Promise<number> {
  const status = await rollout.status();
  const { result, waiting } = status;
  const isInFlight = result.outcome === null && result.error === null;
  const why = waiting === null ? null : whyRollout(waiting, result.phase).sentence;
  if (options.json === true) printDocument({ ...result, waiting, why });
  else printRollout(result, false);
  if (options.json !== true && isInFlight) process.stdout.write(`  now: ${why ?? headLine(status)}\n`);
  await writeSummary(options.summary, () => rolloutMarkdown(result));
  if (options.exitStatus !== true) return EXIT.completed;
  return isInFlight ? EXIT.stoppedWaiting : exitCodeOf(result);
}
