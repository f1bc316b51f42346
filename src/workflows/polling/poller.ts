/** Who waits: the operation or run whose progress, polls, hints and cancellation these are. */
import type { Waiting } from '../../contract/run.ts';
import type { Cancellation } from '../common/cancellation.ts';
import type { Hints } from './hints.ts';
import type { Sighting } from '../rules/verdict.ts';

export interface Watcher {
  readonly cancellation: Cancellation;
  readonly hints: Hints;
  readonly lastStatus: string | null;
  readonly lastReadAt: string | null;
  /** A status was answered. */
  noteStatus(sighting: Sighting): void;
  show(waiting: Waiting | null): void;
}

/** @param part of the result: where polls and the last status are kept */
export function createWatcher(
  part: { polls: number; lastStatus: string | null },
  { cancellation, hints, show }: Pick<Watcher, 'cancellation' | 'hints' | 'show'>,
): Watcher {
  let lastReadAt: string | null = null;
  return {
    cancellation,
    hints,
    show,
    get lastStatus() {
      return part.lastStatus;
    },
    get lastReadAt() {
      return lastReadAt;
    },
    noteStatus({ status }) {
      part.polls += 1;
      part.lastStatus = status;
      lastReadAt = new Date().toISOString();
    },
  };
}

/** For messages. */
export function lastRead({ lastStatus, lastReadAt }: Watcher): string {
  return lastStatus === null ? 'never read' : `"${lastStatus}" at ${lastReadAt}`;
}
