/** Shows a rollout while a command waits for it: a line per finished server, and live lines for the running ones. */
import type { RolloutResult, TargetResult } from './shapes.ts';
import type { Belay, Rollout, RolloutStatus, Run } from '../../starter.ts';
import { isRunning } from '../../contract/tally.ts';
import { glanceText } from '../../contract/duration.ts';
import { leftOfRolloutMs } from '../advice/eta-of-runs.ts';
import { countsText } from '../../contract/tally-text.ts';
import { createLiveLines } from '../../process/live-lines.ts';
import { rolloutSentence } from '../../contract/explain-wait.ts';
import { createNews, follow } from '../../cli/follow.ts';
import { contactText, liveLine } from '../../cli/run-live.ts';
import { targetLine } from './rollout-text.ts';
import { TIMING } from '../../contract/timing.ts';
import { printTo } from '../../process/print.ts';

/** How many running servers have a line. */
const MAX_LINES = 20;

/** Shows it until stopped. */
export function followRollout(
  belay: Belay,
  rollout: Rollout,
  stream: NodeJS.WriteStream,
): { stop(result: RolloutResult): void } {
  const terminal = stream.isTTY ? createLiveLines(stream) : null;
  const printed = new Set<string>();
  const runs = new Map<string, Run>();
  /** Each keeps what it knows until it can change. */
  const runOf = (workflowId: string): Run => {
    const run = runs.get(workflowId) ?? belay.get(workflowId);
    runs.set(workflowId, run);
    return run;
  };
  const isNews = createNews();

  async function look(): Promise<{ status: RolloutStatus; lines: string[] } | null> {
    // A failed status request does not end the wait.
    const status = await rollout.status().catch(() => null);
    if (status === null) return null;
    return { status, lines: terminal === null ? [] : await runningLines(runOf, status.result) };
  }

  function show({ status, lines }: { status: RolloutStatus; lines: string[] }): void {
    terminal?.clear();
    printFinished(status.result);
    const head = headLine(status);
    if (terminal !== null) terminal.draw([head, ...lines]);
    else if (isNews(newsOf(status))) printTo(stream, head);
  }

  /** Prints each server once, those of earlier attempts included. Only the result lists servers that never started. */
  function printFinished({ targets }: RolloutResult): void {
    const ended = targets.filter(({ outcome, startedAt }) => outcome !== null && startedAt !== null);
    for (const target of ended.filter(({ serverId }) => !printed.has(serverId))) {
      printed.add(target.serverId);
      printTo(stream, targetLine(target));
    }
  }

  const following = follow(
    look,
    (seen) => seen !== null && show(seen),
    terminal === null ? TIMING.cli.logPeriodMs : TIMING.cli.terminalPeriodMs,
  );
  return {
    stop(result) {
      following.stop();
      terminal?.clear();
      printFinished(result);
    },
  };
}

/** `running: 12 completed, 10 running, 78 pending` */
export function headLine(status: RolloutStatus): string {
  const { result, waiting } = status;
  const silence = contactText(status);
  if (silence !== null) return silence;
  const why = waiting === null || waiting.kind === 'servers' ? '' : `; ${rolloutSentence(waiting)}`;
  const leftMs = result.phase === 'running' ? leftOfRolloutMs(result.targets) : null;
  const left = leftMs === null ? '' : `; about ${glanceText(leftMs)} left`;
  return `${result.phase}: ${countsText(result.servers, result.phase)}${left}${why}`;
}

/** What makes a new line in a log: people have to see each question, and how many answers it still needs. */
const newsOf = ({ result, waiting }: RolloutStatus): string | null =>
  waiting?.kind === 'approval' ? rolloutSentence(waiting) : result.phase;

type RunOf = (workflowId: string) => Run;

async function runningLines(runOf: RunOf, { targets }: RolloutResult): Promise<string[]> {
  return Promise.all(
    targets
      .filter(isRunning)
      .slice(0, MAX_LINES)
      .map((target) => runningLine(runOf, target)),
  );
}

async function runningLine(runOf: RunOf, { serverId, workflowId }: TargetResult): Promise<string> {
  const progress = workflowId === null ? null : runOf(workflowId).progress();
  const status = await progress?.catch(() => null);
  return `  ${serverId}  ${status == null ? 'starting' : liveLine(status, true)}`;
}
