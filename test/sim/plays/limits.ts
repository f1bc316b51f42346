/** Limits of runs that the chaos model does not draw, because they are minutes long. */
import { definedFields } from '../../../src/contract/plain-object.ts';
import type { RunInput } from '../../../src/contract/run.ts';
import type { Scenario } from '../../model/scenario.ts';
import type { Tape } from '../tape.ts';

const MINUTE = 60_000;
const OUTAGE_BUDGETS_MS = [undefined, undefined, MINUTE, 10 * MINUTE];
const START_DEPLOYS_WITHIN_MS = [
  undefined,
  undefined,
  undefined,
  undefined,
  undefined,
  MINUTE / 12,
  MINUTE,
  10 * MINUTE,
];

export function limited(scenario: Scenario, tape: Tape): Scenario {
  const oneOf = <T>(what: string, values: readonly T[]): T => values[tape.choose(what, values.length)]!;
  const limitsOf = ({ deploy }: RunInput) => {
    const outageBudgetMs = oneOf('outage budget', OUTAGE_BUDGETS_MS);
    const startDeploysWithinMs = deploy === undefined ? undefined : oneOf('deploys within', START_DEPLOYS_WITHIN_MS);
    return definedFields({ outageBudgetMs, startDeploysWithinMs });
  };
  return {
    ...scenario,
    runs: scenario.runs.map((run) => ({ ...run, input: { ...run.input, ...limitsOf(run.input) } })),
  };
}
