/** Limits of what users ask for, and the defaults of checks and gates. Pure. */
import { HISTORY_BUDGET } from '../contract/history-budget.ts';
import { HOUR_MS } from '../contract/duration.ts';
import { isRecord } from '../contract/plain-object.ts';

export const MAX_ID_LENGTH = 200;
/** The limit for a text for people, such as the reason and the author of a freeze. */
export const MAX_TEXT_LENGTH = 200;
export const MAX_TARGETS = 1_000;
export const MAX_AT_ONCE = 200;
/** Rollouts that may have more servers in progress leave their reads to the pools of workers. */
export const POOLED_ABOVE = 50;
export const MAX_META_ENTRIES = 50;
/** The limit for a name or value, in characters. */
export const MAX_META_LENGTH = 200;
/** The limit for all names and values, as they are stored. A rollout copies them into each of its runs. */
export const MAX_META_BYTES = 4_096;

/** The check of a site after its deployment, where belay.yaml does not say otherwise. Durations are in milliseconds. */
export const CHECK_DEFAULTS = { interval: 5_000, tries: 24, inARow: 3, timeout: 5_000 };

/** The gates, where belay.yaml does not say otherwise. Durations are in milliseconds. */
export const GATE_DEFAULTS = { interval: 30_000, tries: 20, inARow: 5, patience: 24 * HOUR_MS };

/** Minimum and maximum, inclusive. */
export type Limits = readonly [min: number, max: number];

const TEN_YEARS_MS = 10 * 365 * 24 * HOUR_MS;

export const MAX_OVERRIDES = 20;

/** A rollout gives its runs at most the approvals of the whole rollout and of the wave. */
export const MAX_APPROVED = 2;

export const LIMITS = {
  intervalMs: [10, 24 * HOUR_MS],
  tries: [1, HISTORY_BUDGET.maxTries],
  durationMs: [0, TEN_YEARS_MS],
  startWithinMs: [1, TEN_YEARS_MS],
  // Each look at a lock adds eleven events to the history of the waiting run, which then looks less often.
  busyTimeoutMs: [0, 12 * HOUR_MS],
  freezeWaitMs: [0, 31 * 24 * HOUR_MS],
  /** Bounds an ad-hoc freeze, because a freeze that never ends is forgotten. */
  freezeMs: [1_000, 92 * 24 * HOUR_MS],
  /** How long people may be asked for an approval, and how long it is good. */
  approvalExpiryMs: [60_000, 30 * 24 * HOUR_MS],
  approvalGoodForMs: [60_000, 31 * 24 * HOUR_MS],
  eventsPerMinute: [1, 60_000],
  checkTries: [1, 720],
  // A measurement adds 11 events to the history of its rollout.
  gateTries: [1, 200],
  bakeMs: [0, 7 * 24 * HOUR_MS],
  patienceMs: [5 * 60_000, 7 * 24 * HOUR_MS],
  freshForMs: [1, 7 * 24 * HOUR_MS],
} as const satisfies Record<string, Limits>;

/* Makes notes fit. CI jobs pass commit messages, and no deployment may be refused because of a long one. Pure. */

/** Cuts every note that is too long. A value that is no note stays, so that the validation finds it. */
export function withFittingMeta<T extends { meta?: Record<string, string> }>(input: T): T {
  if (!isRecord(input) || namesOfLongNotes(input.meta).length === 0) return input;
  const entries = Object.entries(input.meta ?? {});
  return {
    ...input,
    meta: Object.fromEntries(entries.map(([name, value]) => [name, isTooLong(value) ? cut(value) : value])),
  };
}

/** Returns the names of the notes to cut. */
export const namesOfLongNotes = (meta: Record<string, string> | undefined): string[] =>
  isRecord(meta) ? Object.keys(meta).filter((name) => isTooLong(meta[name])) : [];

const isTooLong = (value: unknown): boolean => typeof value === 'string' && value.length > MAX_META_LENGTH;

/** The cut could leave half of a character beyond U+FFFF at the end. */
const cut = (value: string): string => `${value.slice(0, MAX_META_LENGTH - 1).replace(/[\ud800-\udbff]$/, '')}…`;
