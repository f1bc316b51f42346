/** Shows a rollout while a command waits for it, and for `status`. */
import { printJson } from '../../process/json-document.ts';
import type { Decision, RolloutResult, TargetResult, RolloutPhase } from './shapes.ts';
import type { Belay, Rollout, RolloutStatus, Run } from '../../starter.ts';
import { explainRollout, rolloutSentence } from '../../contract/explain-wait.ts';
import { EXIT, exitCodeOfResult, BelayError } from '../../contract/errors.ts';
import {
  CANCELLATION_REQUESTED,
  durationOf,
  errorLines,
  errorOf,
  colorize,
  lineInList,
  stateOfResult,
} from '../../cli/run-text.ts';
import { MORE_TO_LIST } from '../../cli/options.ts';
import { rolloutMarkdown, writeSummary } from '../../cli/markdown-summary.ts';
import type { View } from '../../cli/wait-for-verdict.ts';
import { print, printTo } from '../../process/print.ts';
import { isPending, isRunning, counted, countsText, emptyRollout, pendingText } from '../../contract/results.ts';
import { glanceText } from '../../contract/duration.ts';
import { ended, usualOf } from '../../rules/usual.ts';
import { contactText, followOn, isStarting, liveLine } from '../../cli/follow.ts';
import { heldIn, heldText } from '../freezes/text.ts';
import { targetLabel } from '../../contract/target.ts';
import { plainText } from '../../contract/safe-text.ts';

/** @param stream receives the progress */
export const viewOfRollout = (
  belay: Belay,
  rollout: Rollout,
  stream: NodeJS.WriteStream = process.stderr,
): View<RolloutResult> => ({
  what: 'rollout',
  showProgress: () => followRollout(belay, rollout, stream),
  lines: linesAtEnd,
  ofError: rolloutOfError,
  markdown: rolloutMarkdown,
});

export interface ShowOptions {
  json?: boolean;
  summary?: string;
  exitStatus?: boolean;
  watch?: boolean;
}

export async function showRollout(rollout: Rollout, options: ShowOptions, isCancelRequested = false): Promise<number> {
  const status = await rollout.status();
  const { result, waiting } = status;
  const isInFlight = result.outcome === null && result.error === null;
  const why = waiting === null ? null : explainRollout(status).sentence;
  if (options.json === true) printJson({ ...result, waiting, why });
  // A person who watched the rollout has seen each server.
  else if (options.watch === true) print(linesAtEnd(result));
  else print(rolloutLines(result, result.targets, why));
  if (options.json !== true && isInFlight) print(`  now: ${why ?? headLine(status)}`);
  if (options.json !== true && isInFlight && isCancelRequested) print(CANCELLATION_REQUESTED);
  await writeSummary(options.summary, () => rolloutMarkdown(result));
  if (options.exitStatus !== true) return EXIT.completed;
  return isInFlight ? EXIT.stoppedWaiting : exitCodeOfResult(result);
}

/*
 * Shows a rollout while a command waits for it: a line for each finished server, and live lines for the running ones.
 */

/** How many running servers get a line. */
const MAX_LINES = 20;

function followRollout(
  belay: Belay,
  rollout: Rollout,
  stream: NodeJS.WriteStream,
): { stop(result: RolloutResult): void } {
  const printed = new Set<string>();
  const runs = new Map<string, Run>();
  /** A handle keeps what it knows until that can change. */
  const runOf = (workflowId: string): Run => {
    const run = runs.get(workflowId) ?? belay.get(workflowId);
    runs.set(workflowId, run);
    return run;
  };

  /**
   * Prints each server once, including those of earlier attempts. Servers that never started appear only in the result.
   */
  function printFinished({ targets }: RolloutResult): void {
    const finished = targets.filter(({ outcome, startedAt }) => outcome !== null && startedAt !== null);
    for (const target of finished.filter(({ serverId }) => !printed.has(serverId))) {
      printed.add(target.serverId);
      printTo(stream, targetLine(target));
    }
  }

  const following = followOn(
    stream,
    async () => {
      const status = await rollout.status();
      return { status, lines: stream.isTTY ? await runningLines(runOf, status.result) : [] };
    },
    ({ status, lines }, { terminal, printIfNews }) => {
      terminal?.clear();
      printFinished(status.result);
      const head = headLine(status);
      if (terminal !== null) terminal.draw([head, ...lines]);
      else printIfNews(head, newsOf(status));
    },
  );
  return {
    stop(result) {
      following.stop();
      printFinished(result);
    },
  };
}

/** `running: 12 completed, 10 running, 78 pending` */
export function headLine(status: RolloutStatus): string {
  const { result, waiting } = status;
  if (isStarting(status)) return 'starting';
  const silence = contactText(status, 'rollout');
  if (silence !== null) return silence;
  if (result.phase === null) return 'starting';
  const why = waiting === null || waiting.kind === 'servers' ? '' : `; ${rolloutSentence(waiting, result.workflowId)}`;
  const leftMs = result.phase === 'running' ? leftOfRolloutMs(result.targets) : null;
  const left = leftMs === null ? '' : `; about ${glanceText(leftMs)} left`;
  return `${result.phase}: ${countsText(result.servers, result.phase)}${left}${why}`;
}

/** A log gets a new line for each question and for each answer that is still missing, so that people see them. */
const newsOf = ({ result, waiting, contact }: RolloutStatus): string | null =>
  waiting?.kind === 'approval'
    ? rolloutSentence(waiting, result.workflowId)
    : contact === 'answers'
      ? (result.phase ?? contact)
      : contact;

function runningLines(runOf: (workflowId: string) => Run, { targets }: RolloutResult): Promise<string[]> {
  const shown = targets.filter(isRunning).slice(0, MAX_LINES);
  return Promise.all(
    shown.map(async ({ serverId, workflowId }) => {
      const progress = workflowId === null ? null : runOf(workflowId).progress();
      const status = await progress?.catch(() => null);
      return `  ${serverId}  ${status == null ? 'starting' : liveLine(status, true)}`;
    }),
  );
}

function rolloutOfError(error: unknown): RolloutResult {
  const known = error instanceof BelayError ? error.rollout : null;
  return { ...(known ?? emptyRollout()), error: errorOf(error) };
}

/** Leaves out the completed servers, which were printed as they finished. */
function linesAtEnd(result: RolloutResult): string[] {
  const unfinished = result.targets.filter(({ outcome }) => outcome !== 'completed');
  return rolloutLines(result, unfinished);
}

/** @param now the sentence that follows, so that it is not said twice */
export function rolloutLines(result: RolloutResult, targets = result.targets, now: string | null = null): string[] {
  const { outcome, error, workflowId, links, decisions } = result;
  const took = durationOf(result.startedAt, result.endedAt);
  const latest = decisions.findLast(({ action }) => HALTS.includes(action));
  return [
    `${colorize(result, stateOfResult(result))}${took === null || outcome === null ? '' : ` in ${took}`}`,
    ...errorLines(result),
    // Until a worker has taken the rollout up, its servers are not known.
    ...(result.targets.length === 0 ? [] : countLines(result)),
    ...heldIn(result).map((it) => `  ${heldText(it)}`),
    ...decisions.map((it) => decisionLine(it, it === latest && isSaidIn(`${error?.message} ${now}`, it))),
    ...targets.map(
      (target) => `  ${targetLine(isSaid(target, error) ? { ...target, error: null } : target, result.phase)}`,
    ),
    ...(workflowId === null ? [] : [`  rollout: ${workflowId}`]),
    ...(links.ui === null ? [] : [`  in the Temporal UI: ${links.ui}`]),
  ];
}

const countLines = ({ servers, deployments, phase }: RolloutResult): string[] => [
  `  servers: ${countsText(servers, phase)}`,
  `  deployments: ${countsText(deployments, phase)}`,
];

const HALTS: readonly Decision['action'][] = ['pause', 'stop', 'abort'];

const isSaidIn = (text: string, { reason }: Decision): boolean => plainText(text, Infinity).includes(plainText(reason));

function decisionLine({ at, action, by, reason }: Decision, isSaidElsewhere: boolean): string {
  return `  ${at} ${action} by ${plainText(by)}${isSaidElsewhere ? '' : `: ${plainText(reason)}`}`;
}

/** A stopped rollout gives its own reason, and the same one for each server that it did not start. */
const isSaid = ({ startedAt, error }: TargetResult, said: RolloutResult['error']): boolean =>
  startedAt === null && error !== null && said?.message.startsWith(error.message) === true;

/** `server 12 (canary): failed, 2 completed, 1 failed: site 34 …` */
function targetLine(target: TargetResult, phase: RolloutPhase | null = null): string {
  const { serverId, wave, outcome, startedAt, deployments, error, heldByEvent } = target;
  const notStarted = heldByEvent === null ? pendingText(phase) : `held by ${heldByEvent}`;
  const state = startedAt === null ? notStarted : 'in progress';
  const ended = deployments
    .filter((it) => it.outcome !== null)
    .map((it) => `${targetLabel(it.target, plainText)} ${it.outcome}`);
  const sites = outcome === null || ended.length === 0 ? '' : `, sites: ${ended.join(', ')}`;
  const why = error === null ? '' : `: ${plainText(error.message, 120)}`;
  return `server ${plainText(serverId)} (${wave}): ${colorize({ outcome, error }, outcome ?? state)}${sites}${why}`;
}

/** `2026-11-21T02:30:34Z  completed  rollout:steady:…, attempt 2  97 completed, 3 failed` @param columns of the terminal */
export function rolloutListLine(result: RolloutResult, columns: number): string {
  const { outcome, phase, error, workflowId, servers, attempt } = result;
  const state = outcome ?? error?.type ?? phase ?? 'in progress';
  const which = attempt === 1 ? workflowId : `${workflowId}, attempt ${attempt}`;
  return lineInList(result, { state, about: `${which}  ${countsText(servers, phase)}`, columns });
}

/** @param most how many were asked for */
export function rolloutListLines(rollouts: RolloutResult[], most: number, columns: number): string[] {
  if (rollouts.length === 0) return ['no rollouts'];
  const lines = rollouts.map((it) => rolloutListLine(it, columns));
  return rollouts.length < most ? lines : [...lines, `${counted(rollouts.length, 'rollout')}; ${MORE_TO_LIST}`];
}

/**
 * Estimates the rest of a rollout from its servers that have ended.
 *
 * @returns null if fewer than five have ended, or if none is left
 */
export function leftOfRolloutMs(targets: readonly TargetResult[]): number | null {
  const took = targets.flatMap(({ outcome, startedAt, endedAt }) =>
    outcome === null || startedAt === null || endedAt === null ? [] : Date.parse(endedAt) - Date.parse(startedAt),
  );
  const usual = usualOf(took.map(ended));
  const running = targets.filter(isRunning).length;
  const toCome = targets.filter((it) => isPending(it) && it.heldByEvent === null).length + running;
  return usual === null || toCome === 0 ? null : Math.ceil(toCome / Math.max(1, running)) * usual.usuallyMs;
}
