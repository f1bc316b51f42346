/** How late reads are, from the moments when they arrived at the service. Pure: times are milliseconds since 1970. */
import { ascending } from './spread.ts';

export interface Read {
  /** What was read. */
  site: string;
  atMs: number;
}

/** Its end is not part of it. */
export interface Span {
  fromMs: number;
  toMs: number;
}

export interface Lateness {
  /** For each read that was due: how long after its moment the wait was read. Ascending. */
  lateMs: number[];
  /** How many of them were not followed by a read. They count as late as the span shows. */
  unread: number;
}

/** What was due this shortly before the end of the span is left out: its read may come after it. */
const GRACE_MS = 1_000;

/**
 * The lateness of waits that read on a fixed beat. The service does not know the beat of a wait. It takes the one for
 * which the reads of the wait are the least late, so its most punctual read counts as punctual.
 */
export function latenessOfBeat(
  sites: readonly string[],
  reads: readonly Read[],
  { fromMs, toMs, intervalMs }: Span & { intervalMs: number },
): Lateness {
  const bySite = new Map(sites.map((site): [string, number[]] => [site, []]));
  for (const { site, atMs } of reads) if (atMs >= fromMs && atMs < toMs) bySite.get(site)?.push(atMs);
  const span = { fromMs, toMs };
  const waits = [...bySite.values()].map((times) => latenessOfWait(ascending(times), span, intervalMs));
  return {
    lateMs: ascending(waits.flatMap(({ lateMs }) => lateMs)),
    unread: waits.reduce((sum, it) => sum + it.unread, 0),
  };
}

function latenessOfWait(times: readonly number[], span: Span, intervalMs: number): Lateness {
  // Without a read, its beat is unknown: only what was surely due counts.
  const phases = times.length === 0 ? [intervalMs] : [...new Set(times.map((ms) => (ms - span.fromMs) % intervalMs))];
  const all = phases.map((phaseMs) => latenessFrom(times, { ...span, firstMs: span.fromMs + phaseMs }, intervalMs));
  const sumOf = ({ lateMs }: Lateness) => lateMs.reduce((sum, it) => sum + it, 0);
  return all.reduce((least, it) => (sumOf(it) < sumOf(least) ? it : least));
}

function latenessFrom(
  times: readonly number[],
  { firstMs, toMs }: Span & { firstMs: number },
  intervalMs: number,
): Lateness {
  const lateness: Lateness = { lateMs: [], unread: 0 };
  let next = 0;
  for (let dueMs = firstMs; dueMs < toMs - GRACE_MS; dueMs += intervalMs) {
    while (next < times.length && times[next]! < dueMs) next += 1;
    const readMs = times[next];
    if (readMs === undefined) lateness.unread += 1;
    lateness.lateMs.push((readMs ?? toMs) - dueMs);
  }
  return lateness;
}

/**
 * How much longer than the interval the time between two reads of a wait is, ascending. It compares waits that sleep after
 * each read with those that read on a beat.
 */
export function latenessOfGaps(reads: readonly Read[], intervalMs: number): number[] {
  const last = new Map<string, number>();
  const late = reads.flatMap(({ site, atMs }) => {
    const beforeMs = last.get(site);
    last.set(site, atMs);
    return beforeMs === undefined ? [] : [Math.max(0, atMs - beforeMs - intervalMs)];
  });
  return ascending(late);
}
