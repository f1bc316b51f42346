/** The outcome of a run from those of its parts. Pure. */
import { OUTCOMES, type Outcome, type RunError } from '../../contract/run.ts';

/** How a part of a run ended. `error` is null only where it completed, `outcome` is null only for a defect. */
export interface End {
  outcome: Outcome | null;
  error: RunError | null;
}

/** The worst end: its outcome is the run's, its error the root cause. Of equals the first one counts. */
export function worst(ends: readonly End[]): End {
  // A defect has no place among the outcomes, and nothing may hide it.
  const rank = ({ outcome }: End) => (outcome === null ? -1 : OUTCOMES.indexOf(outcome));
  return ends.reduce((a, b) => (rank(b) < rank(a) ? b : a), { outcome: 'completed', error: null });
}
