/** Decides what a status word means. The interface shows two final words; any other word means in progress. Pure. */
import type { FinalWords, ReadAnswer, ReadResult, StatusState } from '../contract/activities.ts';

/**
 * Compares words trimmed and case-insensitively. It is our assumption that a backup's `failed` is final: the interface
 * speaks of Completed or Failed, but its table of states does not show it.
 */
export function stateOfStatus(more: FinalWords, status: string): StatusState {
  const word = normalizeStatus(status);
  if (word === 'completed' || word === 'failed') return word;
  return Object.entries(more).find(([other]) => normalizeStatus(other) === word)?.[1] ?? 'in_progress';
}

export const withMeaning = (words: FinalWords, answer: ReadAnswer): ReadResult =>
  answer.ok ? { ...answer, state: stateOfStatus(words, answer.status) } : answer;

/** Two status words are the same if they differ only in case or surrounding spaces. */
export const normalizeStatus = (word: string): string => word.trim().toLowerCase();
