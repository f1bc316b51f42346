/** Shows a rollout, while a command waits for it and for `status`. */
import { printJson } from '../../process/json-document.ts';
import type { RolloutResult } from './shapes.ts';
import type { Belay, Rollout } from '../../starter.ts';
import { explainRollout } from '../../contract/explain-wait.ts';
import { EXIT, exitCodeOfResult } from '../../contract/exit-codes.ts';
import { followRollout, headLine } from './rollout-live.ts';
import { CANCELLATION_REQUESTED } from '../../cli/run-text.ts';
import { printRollout, printRolloutEnd, rolloutOfError } from './rollout-text.ts';
import { rolloutMarkdown, writeSummary } from '../../cli/markdown-summary.ts';
import type { View } from '../../cli/wait-for-verdict.ts';
import { print } from '../../process/print.ts';

/** @param stream for the progress */
export const viewOfRollout = (
  belay: Belay,
  rollout: Rollout,
  stream: NodeJS.WriteStream = process.stderr,
): View<RolloutResult> => ({
  what: 'rollout',
  follow: () => followRollout(belay, rollout, stream),
  print: printRolloutEnd,
  ofError: rolloutOfError,
  markdown: rolloutMarkdown,
});

export interface ShowOptions {
  json?: boolean;
  summary?: string;
  exitStatus?: boolean;
  watch?: boolean;
  isCancelled?: true;
}

export async function showRollout(rollout: Rollout, options: ShowOptions): Promise<number> {
  const status = await rollout.status();
  const { result, waiting } = status;
  const isInFlight = result.outcome === null && result.error === null;
  const why = waiting === null ? null : explainRollout(waiting, result.phase).sentence;
  if (options.json === true) printJson({ ...result, waiting, why });
  // Who watched it has seen each server.
  else if (options.watch === true) printRolloutEnd(result, false);
  else printRollout(result, false);
  if (options.json !== true && isInFlight) print(`  now: ${why ?? headLine(status)}`);
  if (options.json !== true && isInFlight && options.isCancelled === true) print(CANCELLATION_REQUESTED);
  await writeSummary(options.summary, () => rolloutMarkdown(result));
  if (options.exitStatus !== true) return EXIT.completed;
  return isInFlight ? EXIT.stoppedWaiting : exitCodeOfResult(result);
}
