/** What the service saw around the restart of a worker. Pure: times are milliseconds since 1970. */
import type { Read, Span } from './lateness.ts';
import { ascending } from './spread.ts';

const SECOND_MS = 1_000;

export interface FirstReads {
  /** How long after the moment each wait was read first, ascending. */
  afterMs: number[];
  unread: number;
}

export function firstReadsAfter(momentMs: number, sites: readonly string[], reads: readonly Read[]): FirstReads {
  const firstMs = new Map<string, number>();
  for (const { site, atMs } of reads) {
    if (atMs >= momentMs) firstMs.set(site, Math.min(atMs, firstMs.get(site) ?? Infinity));
  }
  const read = sites.filter((site) => firstMs.has(site));
  return { afterMs: ascending(read.map((site) => firstMs.get(site)! - momentMs)), unread: sites.length - read.length };
}

/** The number of reads in each whole second of the span. */
export function readsPerSecond(reads: readonly Read[], { fromMs, toMs }: Span): number[] {
  const counts = Array.from({ length: Math.floor((toMs - fromMs) / SECOND_MS) }, () => 0);
  for (const { atMs } of reads) {
    const second = Math.floor((atMs - fromMs) / SECOND_MS);
    if (second >= 0 && second < counts.length) counts[second]! += 1;
  }
  return counts;
}
