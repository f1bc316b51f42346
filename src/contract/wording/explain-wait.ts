/** Why something is waiting, in a sentence. Pure. */
import type { OperationProgress, RunProgress, RunResult, Waiting } from '../run.ts';
import type { RolloutWaiting, Why } from '../rollout.ts';
import { plainText } from './safe-text.ts';

/** How what comes from outside is shown, and how times are. */
export interface Style {
  quote: (text: string) => string;
  /** Of a time to come; null: it isn't told. */
  when: ((at: string) => string) | null;
}

const quoted = (text: string): string => `"${plainText(text)}"`;

const PLAIN: Style = { quote: quoted, when: (at) => `at ${at}` };

/** For a line that is drawn again every second. */
export const COUNTDOWN: Style = {
  quote: quoted,
  when: (at) => `in ${Math.max(0, Math.ceil((Date.parse(at) - Date.now()) / 1000))} s`,
};

export function whyRun(progress: RunProgress): Why {
  const { result, waiting, operation } = progress;
  const what = inFlight(result);
  if (waiting !== null) return { sentence: waitingSentence(waiting, what), waiting };
  if (result.outcome !== null) return { sentence: `nothing is waited for: ${result.outcome}`, waiting };
  const doing = what ?? result.phase ?? 'starting';
  return { sentence: operation === null ? doing : `${doing} is followed by ${operation.workflowId}`, waiting };
}

export function whyOperation({ result, phase, waiting }: OperationProgress): Why {
  const what = 'siteId' in result ? `deployment of ${result.siteId}` : `backup of ${result.serverId}`;
  if (waiting === null) return { sentence: `${what}: ${result.outcome ?? phase}`, waiting };
  return { sentence: waitingSentence(waiting, what), waiting };
}

export function whyRollout(waiting: RolloutWaiting | null, phase: string | null): Why {
  if (waiting === null) return { sentence: `nothing is waited for: ${phase}`, waiting };
  return { sentence: rolloutSentence(waiting), waiting };
}

/** `deployment of a1: try 7 of 30, last "building", next read at …` @param what it is that waits, where that isn't said already */
export function waitingSentence(waiting: Waiting, what: string | null, style: Style = PLAIN): string {
  const { quote, when } = style;
  if (waiting.for === 'lock') {
    const holder = waiting.heldBy === undefined || waiting.heldBy === null ? 'another run' : quote(waiting.heldBy);
    return `${what ?? 'queued'}: waits for the lock ${quote(waiting.lockId)}, held by ${holder}`;
  }
  const last = waiting.lastStatus === null ? 'not read yet' : `last ${quote(waiting.lastStatus)}`;
  const tries = `try ${waiting.try} of ${waiting.tries}`;
  const next = when === null ? '' : `, next read ${when(waiting.nextReadAt)}`;
  const head = [what, DOING[waiting.for]].filter((part) => part !== null).join(', ');
  return `${head === '' ? '' : `${head}: `}${tries}, ${last}${next}`;
}

const DOING = {
  backup: null,
  deployment: null,
  baseline: "somebody else's deployment comes first",
  trace: 'requested, looking for its trace',
} as const;

export function rolloutSentence(waiting: RolloutWaiting, quote: Style['quote'] = quoted): string {
  if (waiting.for === 'decision') {
    return `paused by ${quote(waiting.by)} because ${quote(waiting.because)}: resume or abort it`;
  }
  const { running, toCome, maxAtOnce, stopped } = waiting;
  const some = running.slice(0, 3).map(quote).join(', ');
  const more = running.length > 3 ? ` and ${running.length - 3} more` : '';
  if (stopped !== undefined) {
    const { by, because } = stopped;
    const why = `stopped by ${quote(by)} because ${quote(because)}`;
    return `${why}: ${running.length} still under way (${some}${more}), nothing more begins`;
  }
  return `${running.length} of at most ${maxAtOnce} servers under way (${some}${more}), ${toCome} to come`;
}

/** What a run is at. */
export function inFlight(
  { phase, backup, deployments }: RunResult,
  quote: Style['quote'] = (id) => plainText(id),
): string | null {
  if (phase === 'backup') return backup === null ? null : `backup of ${quote(backup.serverId)}`;
  const deployment = deployments.find(({ outcome }) => outcome === null);
  return deployment === undefined ? null : `deployment of ${quote(deployment.siteId)}`;
}
