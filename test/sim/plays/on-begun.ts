/** Hears what the service begins, for faults and outages that are aimed at it. */
import type { JournalEntry } from '../../../src/sandbox/state.ts';
import type { World } from '../world.ts';

type Began = NonNullable<JournalEntry['began']>;

export function onBegun({ service: { state } }: World, act: (began: Began, by: JournalEntry['by']) => void): void {
  const note = state.note.bind(state);
  state.note = (entry) => {
    note(entry);
    const { began, by } = state.journal.at(-1)!;
    if (began !== null) act(began, by);
  };
}
