/** What is seen of a rollout while a command waits for it: a line per server, those under way drawn again. */
import type { RolloutResult, TargetResult } from '../../contract/rollout.ts';
import type { Belay, Rollout, RolloutStatus } from '../../starter.ts';
import { isRunning, sumText } from '../../contract/results/tally.ts';
import { createLiveLines } from '../../process/live-lines.ts';
import { rolloutSentence } from '../../contract/wording/explain-wait.ts';
import { CONTACT, liveLine } from './run-live.ts';
import { targetLine } from '../output/rollout-text.ts';

const TERMINAL_PERIOD_MS = 1_000;
const LOG_PERIOD_MS = 3_000;
/** What their runs are at is asked for so many. */
const MAX_ASKED = 20;

/** Shows it on stderr until stopped. */
export function followRollout(
  belay: Belay,
  rollout: Rollout,
  stream: NodeJS.WriteStream = process.stderr,
): { stop(result: RolloutResult): void } {
  const terminal = stream.isTTY ? createLiveLines(stream) : null;
  const told = new Set<string>();
  let phase: string | null = null;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;

  async function look(): Promise<void> {
    // What can't be seen just now is no error of the wait.
    const status = await rollout.status().catch(() => null);
    const lines = status === null || terminal === null ? [] : await runningLines(belay, status.result);
    if (stopped) return;
    if (status !== null) show(status, lines);
    timer = setTimeout(() => void look(), terminal === null ? LOG_PERIOD_MS : TERMINAL_PERIOD_MS);
  }

  function show(status: RolloutStatus, lines: string[]): void {
    terminal?.clear();
    tellEnded(status.result);
    const head = headLine(status);
    if (terminal !== null) terminal.draw([head, ...lines]);
    else if (status.result.phase !== phase) stream.write(`${head}\n`);
    phase = status.result.phase;
  }

  /** What earlier attempts did is in the result. */
  function tellEnded({ targets }: RolloutResult): void {
    const ended = targets.filter(({ outcome, startedAt }) => outcome !== null && startedAt !== null);
    for (const target of ended.filter(({ serverId }) => !told.has(serverId))) {
      told.add(target.serverId);
      stream.write(`${targetLine(target)}\n`);
    }
  }

  void look();
  return {
    stop(result) {
      stopped = true;
      clearTimeout(timer);
      terminal?.clear();
      tellEnded(result);
    },
  };
}

/** `running: 12 completed, 10 running, 78 to come` */
export function headLine({ result, waiting, contact }: RolloutStatus): string {
  if (contact !== 'answers' && contact !== 'closed') return CONTACT[contact];
  const why = waiting?.for === 'decision' ? `; ${rolloutSentence(waiting)}` : '';
  return `${result.phase}: ${sumText(result.servers, result.phase)}${why}`;
}

async function runningLines(belay: Belay, { targets }: RolloutResult): Promise<string[]> {
  return Promise.all(
    targets
      .filter(isRunning)
      .slice(0, MAX_ASKED)
      .map((target) => runningLine(belay, target)),
  );
}

async function runningLine(belay: Belay, target: TargetResult): Promise<string> {
  const status =
    target.workflowId === null
      ? null
      : await belay
          .get(target.workflowId)
          .status()
          .catch(() => null);
  return `  ${target.serverId}  ${status === null ? 'starting' : liveLine(status, true)}`;
}
