/** What a status word means. The interface shows two final ones; everything else is in progress. Pure. */
import type { StatusState } from '../../contract/run.ts';
import { wordKey } from '../../contract/wording/safe-text.ts';

export type StatusMeaning = (status: string) => StatusState;

export interface StatusWords {
  deployment: StatusMeaning;
  backup: StatusMeaning;
}

/** Words that are final beside `completed` and `failed`. */
export type FinalWords = Record<string, 'completed' | 'failed'>;

/**
 * Compares trimmed and without regard to case. That a backup's `failed` is final is our assumption: the interface
 * speaks of Completed or Failed, its table of states doesn't show it.
 */
export function createStatusWords(
  more: { deployment?: FinalWords | undefined; backup?: FinalWords | undefined } = {},
): StatusWords {
  return { deployment: meaningWith(more.deployment ?? {}), backup: meaningWith(more.backup ?? {}) };
}

function meaningWith(more: FinalWords): StatusMeaning {
  const final = new Map<string, StatusState>([
    ...Object.entries(more).map(([word, meaning]) => [wordKey(word), meaning] as const),
    ['completed', 'completed'],
    ['failed', 'failed'],
  ]);
  return (status) => final.get(wordKey(status)) ?? 'in_progress';
}
