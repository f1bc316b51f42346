/** What is seen of a rollout while a command waits for it: a line per server, those under way drawn again. */
import type { RolloutResult, TargetResult } from '../fleet-contract.ts';
import type { Belay, Rollout, RolloutStatus } from '../starter.ts';
import { isRunning, sumText } from '../targets.ts';
import { createLiveLines } from '../terminal.ts';
import { rolloutSentence } from '../why.ts';
import { CONTACT, liveLine } from './live.ts';
import { targetLine } from './rollout-output.ts';

const TERMINAL_PERIOD_MS = 1_000;
const LOG_PERIOD_MS = 3_000;
/** What their runs are at is asked for so many. */
const MAX_ASKED = 20;

/** Shows it on stderr until stopped. */
export function followRollout(
  belay: Belay,
  rollout: Rollout,
  stream: NodeJS.WriteStream = process.stderr,
): { stop(): void } {
  const terminal = stream.isTTY ? createLiveLines(stream) : null;
  const told = new Set<string>();
  let head = '';
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
    // What earlier attempts did is in the result.
    const ended = status.result.targets.filter((it) => it.outcome !== null && it.startedAt !== null);
    for (const target of ended.filter(({ serverId }) => !told.has(serverId))) {
      told.add(target.serverId);
      stream.write(`${targetLine(target)}\n`);
    }
    const next = headLine(status);
    if (terminal !== null) terminal.draw([next, ...lines]);
    else if (next !== head && status.waiting?.for !== 'servers') stream.write(`${next}\n`);
    head = next;
  }

  void look();
  return {
    stop() {
      stopped = true;
      clearTimeout(timer);
      terminal?.clear();
    },
  };
}

/** `running: 12 completed, 10 running, 78 to come` */
export function headLine({ result, waiting, contact }: RolloutStatus): string {
  if (contact !== 'answers' && contact !== 'closed') return CONTACT[contact];
  const why = waiting?.for === 'decision' ? `; ${rolloutSentence(waiting)}` : '';
  return `${result.phase}: ${sumText(result.servers)}${why}`;
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
