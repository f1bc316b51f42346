/** What has to be known of a trace of deployment.qnt before it is replayed, because it is the input of runs. */
import type { DeploymentState } from './deployment-model.ts';
import type { Step } from './itf.ts';

export interface Plan {
  /** The runs that find the site busy: they run with `--if-busy fail`. */
  failing: ReadonlySet<number>;
  /** When the deadline passes, by the clock of the simulator. Null: never, or not known yet. */
  deadlineMs: number | null;
}

export function planOf(steps: readonly Step<DeploymentState>[], deadlineMs: number | null): Plan {
  const holders = steps.flatMap(({ action }, index) => (action === 'findBusy' ? [steps[index - 1]!.state.holder] : []));
  return { failing: new Set(holders), deadlineMs };
}
