/** Explains in one sentence what a run, operation or rollout is waiting for. Pure. */
import type { Phase } from './names.ts';
import type { OperationProgress } from './operation.ts';
import type { BackupResult, DeploymentResult, RunProgress, RunResult } from './run.ts';
import type { RolloutProgress } from '../features/rollouts/shapes.ts';
import type { FailingReads, Waiting, WaitingForRead, RolloutWaiting, Explanation } from './waiting.ts';
import { durationText } from './duration.ts';
import { isOfFeature, rolloutSentenceOf, sentenceOf, unknownWait } from './features.ts';
import { counted } from './results.ts';
import { targetLabel } from './target.ts';
import { commandSpan, plainText, shellWord } from './safe-text.ts';

/** The author of a stop or pause because of failures. For a held server, the author is the event. */
export const TOO_MANY = 'maxFailures';

export const MORE_THAN_WORKERS_CARRY = 'more runs begin than the workers can carry at once';

/** How to show times, and text from outside. */
export interface Style {
  quote: (text: string) => string;
  /** Shows the id of a workflow. Default: like other text. */
  workflow?: (workflowId: string) => string;
  /** Shows the options of a command. Default: unchanged. */
  command?: (options: string) => string;
  /** Formats a future time. Null leaves times out. */
  when: ((at: string) => string) | null;
}

const quoted = (text: string): string => `"${plainText(text)}"`;

const PLAIN: Style = { quote: quoted, when: (at) => `at ${at}` };

/** For a line that is redrawn every second. */
export const COUNTDOWN: Style = {
  quote: quoted,
  when: (at) => `in ${Math.max(0, Math.ceil((Date.parse(at) - Date.now()) / 1000))} s`,
};

export function explainRun(progress: RunProgress): Explanation {
  const { result, waiting, operation } = progress;
  const what = nameOfPartInFlight(result);
  if (waiting !== null) return { sentence: waitingSentence(waiting, what), waiting };
  if (result.outcome !== null) {
    const by = result.supersededBy?.workflowId;
    const replaced = by === undefined ? '' : `, replaced by ${quoted(by)}`;
    return { sentence: `finished: ${result.outcome}${replaced}`, waiting };
  }
  const doing = what ?? result.phase ?? 'starting';
  return { sentence: operation === null ? doing : `${doing}: handled by workflow ${operation.workflowId}`, waiting };
}

export function explainOperation({ result, phase, waiting }: OperationProgress): Explanation {
  const what = 'target' in result ? `deployment of ${targetLabel(result.target)}` : `backup of ${result.serverId}`;
  if (waiting === null) return { sentence: `${what}: ${result.outcome ?? phase}`, waiting };
  return { sentence: waitingSentence(waiting, what), waiting };
}

export function explainRollout({ result, waiting }: RolloutProgress): Explanation {
  if (waiting === null) return { sentence: `not waiting: ${result.outcome ?? result.phase}`, waiting };
  return { sentence: rolloutSentence(waiting, result.workflowId), waiting };
}

/**
 * `deployment of a1: try 7 of 30, last status "building", next read at …` @param what the waiting operation; null
 * leaves it out
 */
export function waitingSentence(waiting: Waiting, what: string | null, style: Style = PLAIN): string {
  const { quote, when, workflow = quote } = style;
  if (waiting.kind === 'admission') return `waiting for admission: ${MORE_THAN_WORKERS_CARRY}`;
  if (waiting.kind === 'lock') {
    const holder =
      waiting.lockedBy === undefined || waiting.lockedBy === null ? 'another run' : workflow(waiting.lockedBy);
    return `${what ?? 'queued'}: waiting for the lock ${workflow(waiting.lockId)}, held by ${holder}`;
  }
  if (waiting.kind === 'request') {
    const again = `the request is sent again${when === null ? '' : ` ${when(waiting.nextAt)}`}`;
    return `${what === null ? '' : `${what}: `}${again}; the last one ended with ${quote(waiting.reason)}`;
  }
  if (isOfFeature(waiting)) return sentenceOf(waiting, what, style);
  if (!('tries' in waiting)) return `${what === null ? '' : `${what}: `}${unknownWait(waiting, quote)}`;
  const whose = waiting.unproven === true ? ', which may be of an earlier deployment' : '';
  const last = waiting.lastStatus === null ? 'no status yet' : `last status ${quote(waiting.lastStatus)}${whose}`;
  const tries = `${waiting.pooled === undefined ? '' : 'reads on from '}try ${waiting.try} of ${waiting.tries}`;
  const next = when === null ? '' : nextReadText(waiting, when);
  const { parked, failing } = waiting;
  const failures = failing === undefined ? '' : `, ${failingText(failing, quote)}`;
  const outage =
    parked === undefined
      ? ''
      : `parked since ${parked.since}, at most until ${parked.until}, because the service does not answer ` +
        `(${quote(parked.reason)}); `;
  const head = [what, doingOf(waiting)].filter((part) => part !== null).join(', ');
  return `${head === '' ? '' : `${head}: `}${outage}${tries}, ${last}${failures}${next}`;
}

function failingText({ reads, reason }: FailingReads, quote: Style['quote']): string {
  return reads === 1 ? `the last read failed: ${quote(reason)}` : `${reads} reads in a row failed: ${quote(reason)}`;
}

function nextReadText({ nextReadAt, pooled }: WaitingForRead, when: (at: string) => string): string {
  if (pooled === undefined) return `, next read ${when(nextReadAt)}`;
  return `, a read every ${durationText(pooled.everyMs)}`;
}

function doingOf({ kind, parked, lastStatus }: WaitingForRead): string | null {
  if (kind === 'trace') return 'request sent, checking whether it took effect';
  if (kind !== 'baseline' || parked !== undefined) return null;
  return lastStatus === null ? 'reading the status before the request' : 'waiting for another deployment to finish';
}

/** @param workflowId of the rollout. Null leaves it out, as where commands stand beside the sentence */
export function rolloutSentence(
  waiting: RolloutWaiting,
  workflowId: string | null,
  quote: Style['quote'] = quoted,
): string {
  if (waiting.kind === 'decision') {
    const who = waiting.by === TOO_MANY ? '' : ` by ${quote(waiting.by)}`;
    return `paused${who} because ${quote(waiting.reason)}: ${remedyForPause(waiting.held ?? [], workflowId)}`;
  }
  if (waiting.kind !== 'servers') return rolloutSentenceOf(waiting, quote);
  const { running, pending, maxAtOnce, stopped } = waiting;
  const some = running.slice(0, 3).map(quote).join(', ');
  const more = running.length > 3 ? ` and ${running.length - 3} more` : '';
  if (stopped !== undefined) {
    const { by, reason } = stopped;
    const cause = `stopped${by === TOO_MANY ? '' : ` by ${quote(by)}`} because ${quote(reason)}`;
    return `${cause}: ${running.length} still running (${some}${more}), no more servers start`;
  }
  return `${running.length} of at most ${counted(maxAtOnce, 'server')} running (${some}${more}), ${pending} pending`;
}

const MAX_HELD_SHOWN = 3;

/** A plain resume drops the held servers of the wave. */
function remedyForPause(held: readonly string[], workflowId: string | null): string {
  const resume = (flags = '') =>
    workflowId === null
      ? `\`resume${flags}\``
      : commandSpan(`belay rollout resume ${shellWord(workflowId)}${flags} --reason TEXT`);
  if (held.length === 0) return workflowId === null ? 'resume or abort it' : `resume it with ${resume()}, or abort it`;
  const it = held.length === 1 ? 'it' : 'them';
  const shown = held.slice(0, MAX_HELD_SHOWN).map((serverId) => ` --server ${shellWord(serverId)}`);
  const flags = `${shown.join('')}${held.length > MAX_HELD_SHOWN ? ' …' : ''}`;
  return `release ${it} with ${resume(flags)}, continue without ${it} with \`resume\`, or abort the rollout`;
}

/** Names the operation that a run is working on. Null before the first one. */
export function nameOfPartInFlight(result: RunResult, quote: Style['quote'] = (id) => plainText(id)): string | null {
  const part = partInFlight(result);
  if (part === null) return null;
  return 'target' in part ? `deployment of ${targetLabel(part.target, quote)}` : `backup of ${quote(part.serverId)}`;
}

/** A wait in any other phase comes before the first part. */
const IN_PARTS: readonly Phase[] = ['frozen', 'queued', 'backup', 'deploy', 'parked'];

export function partInFlight({ phase, backup, deployments }: RunResult): BackupResult | DeploymentResult | null {
  if (phase === null || !IN_PARTS.includes(phase)) return null;
  const isBackup = phase === 'backup' || ((phase === 'parked' || phase === 'frozen') && backup?.outcome === null);
  return isBackup ? backup : (deployments.find(({ outcome }) => outcome === null) ?? null);
}
