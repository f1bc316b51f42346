/** Derives the outcome of a run from those of its parts. Pure. */
import { type RunError } from '../../contract/run.ts';
import { OUTCOMES, type Outcome } from '../../contract/names.ts';

/** How a part of a run ended. `error` is null only if it completed, `outcome` is null only for a defect. */
export interface Conclusion {
  outcome: Outcome | null;
  error: RunError | null;
}

/** The worst conclusion gives the run its outcome and the root cause. Among equals, the first one counts. */
export function worst(conclusions: readonly Conclusion[]): Conclusion {
  // A defect has no outcome, and no other conclusion may hide it.
  const rank = ({ outcome }: Conclusion) => (outcome === null ? -1 : OUTCOMES.indexOf(outcome));
  return conclusions.reduce((a, b) => (rank(b) < rank(a) ? b : a), { outcome: 'completed', error: null });
}
