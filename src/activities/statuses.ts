/** What a status word means. The interface shows two final ones; everything else is in progress. Pure. */
import type { StatusState } from '../contract.ts';

export type StatusMeaning = (status: string) => StatusState;

export interface StatusWords {
  deployment: StatusMeaning;
  backup: StatusMeaning;
}

/**
 * Compares trimmed and without regard to case. That a backup's `failed` is final is our assumption: the interface
 * speaks of Completed or Failed, its table of states doesn't show it.
 */
export function statusMeaning(status: string): StatusState {
  const word = status.trim().toLowerCase();
  return word === 'completed' || word === 'failed' ? word : 'in_progress';
}

export const STATUS_WORDS: StatusWords = { deployment: statusMeaning, backup: statusMeaning };
