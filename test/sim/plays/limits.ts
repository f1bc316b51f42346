/** Limits of runs that the chaos model does not draw, because they are minutes long. */
import { definedFields } from '../../../src/contract/plain-object.ts';
import type { RunInput } from '../../../src/contract/run.ts';
import type { Scenario } from '../../model/scenario.ts';
import type { Tape } from '../tape.ts';

const MINUTE = 60_000;
/** Half of the runs have a budget, and three of eight may trigger deployments only so long. Zero on the tape is none. */
const OUTAGE_BUDGETS_MS = [null, null, MINUTE, 10 * MINUTE];
const START_DEPLOYS_WITHIN_MS = [null, null, null, null, null, MINUTE / 12, MINUTE, 10 * MINUTE];

export function limited(scenario: Scenario, tape: Tape): Scenario {
  const oneOf = <T>(what: string, values: readonly T[]): T => values[tape.choose(what, values.length)] as T;
  const limitsOf = ({ deploy }: RunInput) => {
    const outageBudgetMs = oneOf('outage budget', OUTAGE_BUDGETS_MS);
    const startDeploysWithinMs = deploy === undefined ? null : oneOf('deploys within', START_DEPLOYS_WITHIN_MS);
    return definedFields({
      outageBudgetMs: outageBudgetMs ?? undefined,
      startDeploysWithinMs: startDeploysWithinMs ?? undefined,
    });
  };
  return {
    ...scenario,
    runs: scenario.runs.map((run) => ({ ...run, input: { ...run.input, ...limitsOf(run.input) } })),
  };
}
