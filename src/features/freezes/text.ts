/** Words for freezes, and for all that a run or rollout waited for or was exempted from. Pure. */
import type { AdHocFreeze, FreezeScope, FrozenBy, Held } from './shapes.ts';
import { durationText, glanceText } from '../../contract/duration.ts';
import type { Style } from '../../contract/explain-wait.ts';
import type { WaitingForThaw } from '../../contract/waiting.ts';
import { plainText, shellWord } from '../../contract/safe-text.ts';

const MAX_SHOWN = 3;

type Quote = (text: string) => string;
const quoted: Quote = (text) => `"${plainText(text)}"`;

/** `frozen by "christmas" until 2027-01-04 06:00 (Europe/Berlin) because "the shop's season"` */
export function frozenText(by: readonly FrozenBy[], quote = quoted): string {
  const shown = by.slice(0, MAX_SHOWN).map(({ name, by: who, untilText, reason }) => {
    const setBy = who === undefined ? '' : ` (set by ${quote(who)})`;
    return `by ${quote(name)}${setBy} until ${untilText} because ${quote(reason)}`;
  });
  const more = by.length > MAX_SHOWN ? [`by ${by.length - MAX_SHOWN} more`] : [];
  return `frozen ${[...shown, ...more].join(', and ')}`;
}

/** What a run or rollout that is frozen waits for. */
export const waitingForThawText = ({ by, nextLookAt }: WaitingForThaw, quote?: Quote): string =>
  by.length === 0 ? `frozen no more, looks again at ${utcText(nextLookAt)}` : frozenText(by, quote);

/** What a person can do about it, too. */
export function freezeSentence(waiting: WaitingForThaw, what: string | null, { quote, command }: Style): string {
  const todo = waiting.by.length === 0 ? 'then continues' : `wait${letOffText(waiting.by, command)}`;
  return `${what ?? 'run'}: ${waitingForThawText(waiting, quote)}: ${todo}`;
}

/** `a freeze begins in 2m10s: "christmas"` */
export const beginsText = (name: string, inMs: number): string =>
  `a freeze begins in ${glanceText(inMs)}: ${quoted(name)}`;

/**
 * Tells what a person can do besides waiting. Empty if there is nothing. @param command formats the options of a
 * command
 */
export function letOffText(by: readonly FrozenBy[], command: Quote = String): string {
  if (by.some(({ override }) => override === 'never')) return '';
  if (by.length > MAX_SHOWN) return '';
  const flags = by.map(({ name }) => `--override-freeze ${shellWord(plainText(name))}`);
  return `, or start again with ${command(flags.join(' '))}`;
}

export const tooLongText = (freezeWaitMs: number): string =>
  `this is longer than --freeze-wait ${durationText(freezeWaitMs)} allows`;

export const tooLateText = (deadlineMs: number): string =>
  `it may begin only until ${utcText(new Date(deadlineMs).toISOString())}`;

/** Results of earlier versions lack the field. */
export const heldIn = (result: { held?: Held[] }): Held[] => result.held ?? [];

const ENDS: Record<NonNullable<Held['end']>, string> = {
  passed: 'waited for',
  failed: 'failed',
  gave_up: 'gave up waiting for',
  cancelled: 'was cancelled while it waited for',
  overridden: 'was let off',
  approved: 'was approved',
  rejected: 'was rejected',
};

/** `was let off the freeze "christmas", by "ana" because "CVE"` */
export function heldText(held: Held, quote = quoted): string {
  const { for: kind, name, end, by, why } = held;
  if (kind === 'approval') return approvalHeldText(held, quote);
  if (kind === 'gate') return gateHeldText(held, quote);
  const who = by === null ? '' : `${end === 'overridden' ? 'by' : 'set by'} ${quote(by)} `;
  return `${end === null ? 'waits for' : ENDS[end]} the ${kind} ${quote(name)}, ${who}because ${quote(why)}`;
}

/** What stands in the place of a reason that no person gave. */
export const NO_REASON = 'no reason given';

/** `approval "production": was approved by "ana" (SHA256:…), "lgtm"` */
function approvalHeldText({ name, end, by, why, proof }: Held, quote: Quote): string {
  const isDecided = end === 'approved' || end === 'rejected';
  const who = by === null ? '' : `${isDecided ? ' by' : ', only by'} ${quote(by)}`;
  const proven = proof === undefined ? '' : ` (${quote(proof)})`;
  // Until a person has answered, the entry holds Belay's own words.
  const isOwnText = by === null || why === NO_REASON;
  const state = end === null ? 'still open' : (APPROVAL_ENDS[end] ?? ENDS[end]);
  return `approval ${quote(name)}: ${state}${who}${proven}, ${isOwnText ? plainText(why) : quote(why)}`;
}

const APPROVAL_ENDS: Partial<typeof ENDS> = {
  gave_up: 'was not given in time',
  cancelled: 'was not given before the cancellation',
};

const GATE_ENDS: Partial<typeof ENDS> = {
  gave_up: 'stayed inconclusive',
  cancelled: 'had not passed when the rollout ended',
  overridden: 'overridden',
};

/** `gate "errors": passed after wave "canary"`, `gate "errors": overridden by "ana" because "errors are known"` */
function gateHeldText({ name, end, by, why }: Held, quote: Quote): string {
  // The record does not tell whether an open gate is being measured or has failed.
  const state = end === null ? 'has not passed' : (GATE_ENDS[end] ?? end);
  const [, wave] = /^after wave (.+)$/s.exec(why) ?? [];
  const about = wave === undefined || by !== null ? ` because ${quote(why)}` : ` after wave ${quote(wave)}`;
  return `gate ${quote(name)}: ${state}${by === null ? '' : ` by ${quote(by)}`}${about}`;
}

/** `everything` or `server 12`. @param shown formats the id for display */
export const scopeText = (scope: FreezeScope, shown: (id: string) => string = String): string =>
  scope.kind === 'all' ? 'everything' : `${scope.kind} ${shown(scope.id)}`;

export const blocksText = ({ blocks }: Pick<AdHocFreeze, 'blocks'>): string =>
  blocks.includes('backup') ? 'deployments and backups' : 'deployments';

/** Shows seconds, because a freeze may be that short. */
export const utcText = (at: string): string => `${at.slice(0, 'yyyy-mm-ddThh:mm:ss'.length).replace('T', ' ')} (UTC)`;
