/** A rollout as commands show it: while they wait for it, and when they are asked. */
import { printDocument } from '../../process/json-document.ts';
import type { RolloutResult } from '../../contract/rollout.ts';
import type { Belay, Rollout } from '../../starter.ts';
import { whyRollout } from '../../contract/wording/explain-wait.ts';
import { EXIT, exitCodeOf } from '../output/exit-codes.ts';
import { followRollout, headLine } from './rollout-live.ts';
import { printRollout, printRolloutEnd, rolloutOfError } from '../output/rollout-text.ts';
import { rolloutMarkdown, writeSummary } from '../output/markdown-summary.ts';
import type { View } from './wait-for-verdict.ts';

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
