/** Validates the request for an ad-hoc freeze, and fills in the defaults. Pure. */
import { type AdHocFreeze, type FreezeScope, type OverrideRule, SCOPE_KINDS } from './shapes.ts';
import { DAY_MS, durationText } from '../../contract/duration.ts';
import { isRecord } from '../../contract/plain-object.ts';
import { scopeText, utcText } from './text.ts';
import { plainText } from '../../contract/safe-text.ts';
import { LIMITS, MAX_TEXT_LENGTH } from '../../request/limits.ts';
import { problemOfId, problemOfText } from '../../request/problems.ts';

export interface NewFreeze {
  /** What to freeze. Default: everything. */
  scope?: FreezeScope;
  /** When the freeze ends, ISO 8601 with a time zone. Give either this or `forMs`, the duration. */
  until?: string;
  forMs?: number;
  reason: string;
  /** Who sets the freeze. Default: who uses the connection. */
  by?: string;
  /** Whether the freeze holds back backups as well. Default: false. */
  backups?: boolean;
  /** Whether a run may be exempted from the freeze. Default: `reason`, which needs a reason. */
  override?: OverrideRule;
  /**
   * Replaces a freeze with the same scope. The new freeze must end later, and this client must be able to read the one
   * before. Default: false.
   */
  extend?: boolean;
}

const INSTANT = /^(\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)(?:Z|[+-]\d\d:\d\d)$/;

/** @returns milliseconds since 1970, or null */
export function parseInstant(text: string): number | null {
  const local = INSTANT.exec(text)?.[1];
  const ms = local !== undefined && isInCalendar(local) ? Date.parse(text) : NaN;
  return Number.isNaN(ms) ? null : ms;
}

/** `Date.parse` takes 30 February for 2 March. @param text a local time @returns false for any text that is not a time */
export function isInCalendar(text: string): boolean {
  const ms = Date.parse(`${text}Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text);
}

export const INSTANT_REMEDY = 'write a time with its zone, like 2026-12-20T18:00Z or 2026-12-20T18:00+01:00';

/** @param nowMs the time by Temporal's clock @returns the freeze, or what is wrong with the request */
export function planFreeze(asked: NewFreeze & { by: string }, nowMs: number): AdHocFreeze | string {
  const { scope = { kind: 'all' }, reason, by, backups = false, override = 'reason', extend = false } = asked;
  const problem =
    problemOfScope(scope) ??
    problemOfChoice('backups', backups, [true, false]) ??
    problemOfChoice('override', override, OVERRIDES) ??
    problemOfChoice('extend', extend, [true, false]) ??
    problemOfBackups(scope, backups) ??
    problemOfField('reason', reason) ??
    problemOfField('by', by);
  if (problem !== null) return problem;
  const untilMs = endOf(asked, nowMs);
  if (typeof untilMs === 'string') return untilMs;
  return {
    scope,
    since: new Date(nowMs).toISOString(),
    until: new Date(untilMs).toISOString(),
    reason: reason.trim(),
    by: by.trim(),
    blocks: backups ? ['deploy', 'backup'] : ['deploy'],
    override,
  };
}

const OVERRIDES: OverrideRule[] = ['reason', 'never'];

/** @returns what is wrong, or null */
export function problemOfScope(scope: unknown): string | null {
  if (!isRecord(scope)) return 'scope: is not an object with kind and id';
  const { kind, id, ...others } = scope;
  const problem = problemOfChoice('scope.kind', kind, ['all', ...SCOPE_KINDS]);
  if (problem !== null) return problem;
  const isAll = kind === 'all';
  const [unknown] = Object.keys(isAll && id !== undefined ? { id } : others);
  if (unknown !== undefined) return `scope.${unknown}: is not a field of this scope: use kind${isAll ? '' : ' and id'}`;
  const problemOfOwn = isAll ? null : problemOfId(id);
  return problemOfOwn === null ? null : `${String(kind)}: ${problemOfOwn}`;
}

function problemOfChoice(name: string, value: unknown, choices: readonly (string | boolean)[]): string | null {
  return choices.some((it) => it === value) ? null : `${name}: must be one of ${choices.join(', ')}`;
}

function problemOfBackups({ kind }: FreezeScope, backups: boolean): string | null {
  const hasBackup = kind === 'all' || kind === 'fleet' || kind === 'server';
  return hasBackup || !backups ? null : `a ${kind} has no backup: freeze the backups of its server`;
}

/** @param field names the text in the message @returns what is wrong with a text for people, or null */
export function problemOfField(field: string, text: unknown): string | null {
  const problem = problemOfText(text);
  return problem === null ? null : `${field}: ${problem}`;
}

/** @returns when the freeze ends, or what is wrong */
function endOf({ until, forMs }: NewFreeze, nowMs: number): number | string {
  if ((until === undefined) === (forMs === undefined)) return 'the end of the freeze: give either a time or a duration';
  if (until === undefined && !Number.isFinite(forMs)) return 'forMs: is not a number of milliseconds';
  const untilMs = until === undefined ? nowMs + (forMs ?? 0) : parseInstant(until);
  if (untilMs === null) return `until: "${until}" is not a time: ${INSTANT_REMEDY}`;
  const [leastMs, mostMs] = LIMITS.freezeMs;
  if (untilMs <= nowMs) return `until: ${utcText(new Date(untilMs).toISOString())} is over: write a later time`;
  if (untilMs - nowMs < leastMs) return `the freeze would last less than ${durationText(leastMs)}: write a later time`;
  if (untilMs - nowMs <= mostMs) return untilMs;
  return `the freeze would last more than ${mostMs / DAY_MS} days: write an earlier time, and extend the freeze before it ends`;
}

/** An extension holds back no less than the freeze that it replaces. @returns the freeze, or what is wrong */
export function extendFreeze(before: AdHocFreeze, freeze: AdHocFreeze): AdHocFreeze | string {
  if (endMs(freeze) > endMs(before)) return joinFreezes(before, freeze);
  return `${scopeText(before.scope)} is frozen until ${utcText(before.until)}: write a later time, or thaw it first`;
}

/** @returns a freeze that holds back no less than either */
export function joinFreezes(before: AdHocFreeze, freeze: AdHocFreeze): AdHocFreeze {
  const both = [before, freeze];
  return {
    ...freeze,
    since: before.since,
    until: endMs(freeze) > endMs(before) ? freeze.until : before.until,
    reason: plainText(`${freeze.reason}; before: ${before.reason}`, MAX_TEXT_LENGTH),
    blocks: [...new Set(both.flatMap(({ blocks }) => blocks))],
    override: both.some(({ override }) => override === 'never') ? 'never' : 'reason',
  };
}

/** @returns true if a freeze holds back no less than another one of the same scope */
export const holdsNoLess = (freeze: AdHocFreeze, other: AdHocFreeze): boolean =>
  endMs(freeze) >= endMs(other) &&
  other.blocks.every((it) => freeze.blocks.includes(it)) &&
  (freeze.override === 'never' || other.override !== 'never');

/** A freeze that another program set may have its end in any zone. */
const endMs = ({ until }: AdHocFreeze): number => Date.parse(until);
