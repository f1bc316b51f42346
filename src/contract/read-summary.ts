/**
 * Writes what the timer and the reads of a poll loop show in the UI. Programs that follow a run parse it again. Pure.
 */
import type { WaitingForRead as Read } from './waiting.ts';
import { plainText } from './safe-text.ts';

export type ReadName = 'try' | 'early' | 'again' | 'parked' | 'hinted' | 'pooled';

const PREFIX: Record<Read['kind'], string> = { backup: '', deployment: '', baseline: 'baseline: ', trace: 'trace: ' };

const NAMES: Record<ReadName, (tries: string) => string> = {
  try: (tries) => `read ${tries}`,
  early: (tries) => `early read before try ${tries}`,
  again: (tries) => `read ${tries} again after a failed one`,
  parked: () => 'read while parked',
  hinted: () => 'hinted read',
  pooled: (tries) => `reads from ${tries} on`,
};

/**
 * Shortens the status, because Temporal rejects a summary over 400 bytes and a service may send a status of any length.
 */
export function readSummary(read: Pick<Read, 'kind' | 'try' | 'tries' | 'lastStatus'>, name: ReadName): string {
  const text = PREFIX[read.kind] + NAMES[name](`${read.try} of ${read.tries}`);
  return read.lastStatus === null ? text : `${text}, last: ${plainText(read.lastStatus, 40)}`;
}

const SUMMARY =
  /^(?:(baseline|trace): )?(?:read|reads from|early read before try) (\d+) of (\d+)(?: on)?(?:, last: (.*))?$/s;

/**
 * Parses the summary of a timer.
 *
 * @param kind what is read if the summary has no prefix
 * @returns null for other summaries
 */
export function readOfSummary(summary: string, kind: 'backup' | 'deployment'): Omit<Read, 'nextReadAt'> | null {
  const [whole, prefix, number, of, lastStatus = null] = SUMMARY.exec(summary) ?? [];
  if (whole === undefined) return null;
  const tries = { try: Number(number), tries: Number(of) };
  return { kind: (prefix as Read['kind'] | undefined) ?? kind, ...tries, lastStatus, lastReadAt: null };
}
