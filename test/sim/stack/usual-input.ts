/** What every run of the tests of rules asks for, if it does not ask for something else. */
import type { RunInput } from '../../../src/contract/run.ts';

export const USUAL_INPUT: Pick<RunInput, 'waits'> = {};

/** Plays the rules as a fleet does. Call it before a test starts a run. */
export function usePooledWaits(): void {
  USUAL_INPUT.waits = 'pooled';
}
