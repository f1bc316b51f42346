/** Decides which freezes hold a run back, and when it looks at them again. Pure. */
import type { FrozenBy, FrozenParts } from './shapes.ts';
import { isSameTarget, type Target, targetText } from '../../contract/target.ts';
import { hashOf } from '../../contract/canonical-json.ts';
import { TIMING } from '../../contract/timing.ts';

export interface HeldPart {
  /** A text for messages, such as `site 34 was not deployed`. */
  what: string;
  by: FrozenBy[];
}

/**
 * @param mayPass whether later targets may go although the first one is frozen
 * @returns null if the run may go
 */
export function heldPart(
  frozen: FrozenParts | null | undefined,
  { serverId = '', targets }: { serverId?: string | undefined; targets: readonly Target[] },
  mayPass: boolean,
): HeldPart | null {
  if (frozen === null || frozen === undefined) return null;
  const { backup, deployments } = frozen;
  if (backup.length > 0) return { what: `server ${serverId} was not backed up`, by: backup };
  const byOf = (target: Target) => deployments.find((it) => isSameTarget(it.target, target))?.by;
  const [first] = targets;
  const by = first === undefined ? undefined : byOf(first);
  const passes = mayPass && targets.some((it) => byOf(it) === undefined);
  if (first === undefined || by === undefined || passes) return null;
  return { what: `${targetText(first)} was not deployed`, by };
}

/*
 * Decides when a waiting workflow looks at freezes again, and when it continues. Pure: times are milliseconds since
 * 1970.
 */

const { lookMs, lateLookMs, oftenForMs, spreadMs, leastMs } = TIMING.freeze;

/** Returns when all of them have ended. Null if that is not known. */
export function thawsAtMs(by: readonly FrozenBy[]): number | null {
  const ends = by.map(({ until }) => (until === null ? NaN : Date.parse(until)));
  const last = Math.max(...ends);
  return Number.isNaN(last) ? null : last;
}

/** @param spentMs how long the workflow has waited in all @param endsMs when it stops waiting */
export function nextLookMs(by: readonly FrozenBy[], nowMs: number, spentMs: number, endsMs: number): number {
  const pauseMs = spentMs < oftenForMs ? lookMs : lateLookMs;
  const atMs = Math.min(nowMs + pauseMs, thawsAtMs(by) ?? Infinity, endsMs);
  return Math.max(atMs, nowMs + leastMs);
}

export function outlasts(by: readonly FrozenBy[], nowMs: number, endsMs: number): boolean {
  return nowMs >= endsMs || (thawsAtMs(by) ?? 0) > endsMs;
}

/** Runs that waited for the same freeze resume at different offsets, so that they do not all start at once. */
export function spreadOf(workflowId: string): number {
  const draw = Number.parseInt(hashOf(workflowId).slice(0, 8), 16) / 2 ** 32;
  return Math.round(leastMs + draw * (spreadMs - leastMs));
}
