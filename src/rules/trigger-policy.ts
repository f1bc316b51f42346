/**
 * Decides what follows a POST. A POST is not idempotent, so one that certainly had no effect is sent again, and one in
 * doubt is reconciled first (resend.ts). After a doubt, no result may claim that nothing was started. Pure: times are
 * milliseconds since 1970.
 */
import { MAYBE_RESTORED } from '../contract/service-identity.ts';
import { HISTORY_BUDGET } from '../contract/history-budget.ts';
import { durationText } from '../contract/duration.ts';
import { definedFields } from '../contract/plain-object.ts';
import type { ErrorType, Outcome } from '../contract/names.ts';
import type { TriggerEffect } from '../contract/sinks.ts';
import { TIMING } from '../contract/timing.ts';
import type { TriggerFailureDetails } from '../contract/activities.ts';

export const MAX_NO_EFFECT = 5;

/** What a permit or check of the worker forbids. */
const FORBIDDEN = ['frozen', 'unapproved', 'unlisted'] as const;
type ForbiddenKind = (typeof FORBIDDEN)[number];

export type TriggerResult<A> =
  | { kind: 'accepted'; answer: A }
  /** Certainly without effect: not connected, not sent, or rejected with 429 or 503. */
  | { kind: 'no_effect'; message: string; retryAfterMs: number | null }
  /** 409 or 423: another operation is in progress. */
  | { kind: 'conflict'; message: string; retryAfterMs: number | null }
  /** Certainly without effect: no worker that can reach the service took the POST. */
  | { kind: 'not_taken'; message: string }
  /** Certainly without effect: the reads that the POST relies on were too long ago. */
  | { kind: 'stale'; message: string }
  /** Certainly without effect: the worker keeps a pause that the service asked for, or the ceiling. */
  | { kind: 'held_back'; message: string; retryAfterMs: number | null }
  /** Not sent, because a permit of the worker forbids it now. */
  | { kind: ForbiddenKind; type: 'Frozen' | 'Refused' | 'ApprovalExpired' | 'Usage'; message: string }
  /** 401 or 403, certainly without effect: another worker may have a valid token. */
  | { kind: 'unauthorized'; message: string }
  | { kind: 'refused'; message: string }
  /** Not sent, but an earlier execution of the same operation may have sent it, or one from before a restore. */
  | { kind: 'reset'; message: string }
  /** `isLost`: no worker reported it. `scheduledAt`: when Temporal learned of it, as the worker reported. */
  | { kind: 'ambiguous'; message: string; isLost?: true; scheduledAt?: string };

export type NotAccepted = Exclude<TriggerResult<never>, { kind: 'accepted' }>;

/** What the failure of a request says. @param type one of `TriggerFailureType`, or of something else that went wrong */
export function resultOfFailure(
  type: string | null | undefined,
  message: string,
  { retryAfterMs = null, httpStatus = null, scheduledAt }: Partial<TriggerFailureDetails>,
): NotAccepted {
  switch (type) {
    case 'Resting':
      return { kind: 'not_taken', message };
    case 'Frozen':
      return { kind: 'frozen', type: 'Frozen', message };
    case 'NotApproved':
      return { kind: 'unapproved', type: 'Refused', message };
    case 'ApprovalExpired':
      return { kind: 'unapproved', type: 'ApprovalExpired', message };
    case 'OutsideInventory':
      return { kind: 'unlisted', type: 'Usage', message };
    case 'Stale':
      return { kind: 'stale', message };
    case 'HeldBack':
      return { kind: 'held_back', message, retryAfterMs };
    case 'NotSent':
    case 'Throttled':
      return { kind: 'no_effect', message, retryAfterMs };
    case 'Conflict':
      return { kind: 'conflict', message, retryAfterMs };
    case 'Reset':
    case 'Restored':
      return { kind: 'reset', message };
    case 'Refused':
      return { kind: httpStatus === 401 || httpStatus === 403 ? 'unauthorized' : 'refused', message };
    default:
      return { kind: 'ambiguous', message, ...definedFields({ scheduledAt }) };
  }
}

export interface TriggerCounts {
  noEffect: number;
  conflicts: number;
  ambiguous: number;
  unauthorized: number;
  unsent: number;
  /** Why the last POST that a worker took was not accepted. */
  reason: string | null;
  /** When the first POST ended. The budget for sending again starts there. */
  firstMs: number | null;
  /** When a token was refused. A worker that the service accepts is awaited from then on. */
  unauthorizedMs: number | null;
}

export const NO_TRIGGERS: TriggerCounts = {
  noEffect: 0,
  conflicts: 0,
  ambiguous: 0,
  unauthorized: 0,
  unsent: 0,
  reason: null,
  firstMs: null,
  unauthorizedMs: null,
};

export type TriggerStep =
  | { kind: 'send'; atMs: number }
  /** Look for a trace, and send nothing before this time. */
  | { kind: 'reconcile'; notBeforeMs: number }
  | { kind: 'end'; outcome: Extract<Outcome, 'not_started' | 'unknown'>; type: ErrorType; message: string };

export interface TriggerBudget {
  intervalMs: number;
  /** How long after the first POST ended another POST may be sent. */
  resendMs: number;
  busyEndsMs: number;
  /** The least time between two requests that another operation refuses. */
  busyPauseMs: number;
  /** Whether a request in doubt waits for another operation, which may be its own, as long as any other request. */
  waitsInDoubt: boolean;
}

/**
 * A request that was not sent counts as certainly without effect only for a limited time. After hours, Temporal's
 * database may have been restored to a moment before a request that was sent. The history then looks the same as after
 * an outage.
 */
export function whileCertain(result: NotAccepted, passedMs: number): NotAccepted {
  if (!isWithoutEffect(result) || passedMs <= TIMING.post.certainMs) return result;
  const why = `${durationText(TIMING.post.certainMs)} or more passed, and ${MAYBE_RESTORED}`;
  return { kind: 'reset', message: `${result.message}; ${why}: check the service, then start a new run` };
}

export function countTrigger(counts: TriggerCounts, result: TriggerResult<unknown>, nowMs: number): TriggerCounts {
  return {
    noEffect: counts.noEffect + (result.kind === 'no_effect' ? 1 : 0),
    conflicts: counts.conflicts + (result.kind === 'conflict' ? 1 : 0),
    ambiguous: counts.ambiguous + (result.kind === 'ambiguous' ? 1 : 0),
    unauthorized: counts.unauthorized + (result.kind === 'unauthorized' ? 1 : 0),
    unsent: counts.unsent + (isUnsent(result) ? 1 : 0),
    reason: 'message' in result && !isUnsent(result) ? result.message : counts.reason,
    firstMs: counts.firstMs ?? nowMs,
    unauthorizedMs: counts.unauthorizedMs ?? (result.kind === 'unauthorized' ? nowMs : null),
  };
}

type Unsent = Forbidden | (TriggerResult<never> & { kind: 'not_taken' | 'stale' | 'held_back' });

/** True if no worker took the request, or if the worker kept it back. Such a request counts as no attempt. */
export const isUnsent = (result: TriggerResult<unknown>): result is Unsent =>
  isForbidden(result) || ['not_taken', 'stale', 'held_back'].includes(result.kind);

type Forbidden = TriggerResult<never> & { kind: ForbiddenKind };

export const isForbidden = (result: TriggerResult<unknown>): result is Forbidden =>
  FORBIDDEN.some((it) => it === result.kind);

type WithoutEffect = Unsent | (TriggerResult<never> & { kind: 'no_effect' });

export const isWithoutEffect = (result: TriggerResult<unknown>): result is WithoutEffect =>
  isUnsent(result) || result.kind === 'no_effect';

export function effectOf({ kind }: TriggerResult<unknown>): TriggerEffect {
  switch (kind) {
    case 'accepted':
    case 'refused':
    case 'reset':
      return kind;
    case 'ambiguous':
      return 'unknown';
    case 'unauthorized':
    case 'conflict':
      return 'refused';
    default:
      return 'not_sent';
  }
}

/** @param counts counts that include this result */
export function afterTrigger(
  result: NotAccepted,
  counts: TriggerCounts,
  budget: TriggerBudget,
  nowMs: number,
): TriggerStep {
  if (result.kind === 'ambiguous') return { kind: 'reconcile', notBeforeMs: nowMs };
  if (result.kind === 'reset')
    return { kind: 'end', outcome: 'unknown', type: 'OutcomeUnknown', message: result.message };
  if (result.kind === 'refused') return endUnaccepted(counts, 'Refused', result.message);
  if (isForbidden(result)) return endUnaccepted(counts, result.type, result.message);
  // A trace may have come and gone since the last read.
  if (result.kind === 'stale' && counts.ambiguous > 0) return endUnaccepted(counts, 'OutcomeUnknown', result.message);
  if (isUnsent(result) || result.kind === 'unauthorized') return afterUnfitWorker(result, counts, budget, nowMs);
  // The service may name no time at all, or one that is over.
  const pauseMs = Math.max(
    result.retryAfterMs ?? budget.intervalMs,
    Math.min(budget.intervalMs, TIMING.pace.leastPauseMs),
  );
  const busyAtMs = nowMs + Math.max(pauseMs, budget.busyPauseMs);
  if (counts.ambiguous > 0) {
    // The operation in progress may be ours, and another request could start a second one. Look for a trace first.
    const notBeforeMs = nowMs + (result.retryAfterMs ?? 0);
    const late = result.retryAfterMs !== null && notBeforeMs > (counts.firstMs ?? nowMs) + budget.resendMs;
    if (!late && counts.noEffect + counts.conflicts < MAX_NO_EFFECT) return { kind: 'reconcile', notBeforeMs };
    const isConflict = result.kind === 'conflict';
    const isInTime = isConflict ? busyAtMs <= budget.busyEndsMs : !late && counts.noEffect < MAX_NO_EFFECT;
    if (!isInTime || !budget.waitsInDoubt) return endUnaccepted(counts, 'OutcomeUnknown', result.message);
    return { kind: 'reconcile', notBeforeMs: isConflict ? busyAtMs : notBeforeMs };
  }
  if (result.kind === 'conflict') {
    if (busyAtMs <= budget.busyEndsMs) return { kind: 'send', atMs: busyAtMs };
    const busy = `${result.message}: another operation is in progress; try again when it has ended`;
    return endUnaccepted(counts, 'Busy', busy);
  }
  const atMs = nowMs + pauseMs;
  const spent = counts.noEffect >= MAX_NO_EFFECT || atMs > (counts.firstMs ?? nowMs) + budget.resendMs;
  return spent ? endUnaccepted(counts, 'Refused', result.message) : { kind: 'send', atMs };
}

type Unfit = Unsent | (TriggerResult<never> & { kind: 'unauthorized' });

/** The service never judged the request, so only time ends this, or the refusal of a second worker. */
function afterUnfitWorker(result: Unfit, counts: TriggerCounts, budget: TriggerBudget, nowMs: number): TriggerStep {
  const { resendMs } = budget;
  const { kind, message } = result;
  if (kind === 'unauthorized' && counts.unauthorized > 1) return endUnaccepted(counts, 'Refused', message);
  const { firstMs, unauthorizedMs } = counts;
  const endsMs = Math.min(
    (firstMs ?? nowMs) + resendMs,
    unauthorizedMs === null ? Infinity : unauthorizedMs + TIMING.poll.unauthorizedPatienceMs,
  );
  const atMs = sendAgainMs(result, counts, budget, { nowMs, endsMs });
  if (atMs > endsMs) {
    return endUnaccepted(counts, 'Refused', counts.reason === null ? message : `${message}; before: ${counts.reason}`);
  }
  return counts.ambiguous > 0 ? { kind: 'reconcile', notBeforeMs: atMs } : { kind: 'send', atMs };
}

/**
 * The pause doubles while the request stays unsent, because each attempt costs events and a service may be down for
 * hours. The last pause shrinks to the time that is left, if that allows another attempt.
 */
function sendAgainMs(
  result: Unfit,
  { unsent }: TriggerCounts,
  { intervalMs, resendMs }: TriggerBudget,
  { nowMs, endsMs }: { nowMs: number; endsMs: number },
): number {
  if (result.kind === 'unauthorized') return nowMs;
  const { firstPauseMs } = TIMING.post;
  const askedMs = nowMs + (result.kind === 'held_back' ? (result.retryAfterMs ?? 0) : 0);
  const longestMs = Math.max(intervalMs, resendMs / HISTORY_BUDGET.maxUnsentRequests);
  const ownMs = nowMs + Math.max(firstPauseMs, Math.min(longestMs, firstPauseMs * 2 ** (unsent - 1), endsMs - nowMs));
  return Math.max(askedMs, ownMs);
}

function endUnaccepted(counts: TriggerCounts, type: ErrorType, message: string): TriggerStep {
  if (counts.ambiguous === 0) return { kind: 'end', outcome: 'not_started', type, message };
  return {
    kind: 'end',
    outcome: 'unknown',
    type: 'OutcomeUnknown',
    message: `an earlier request may have had an effect; ${message}`,
  };
}
