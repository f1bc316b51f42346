/**
 * What the chaos model does not draw, because it takes minutes: limits of runs, pooled waits, faults that last, and
 * long pauses.
 */
import { definedFields } from '../../../src/contract/plain-object.ts';
import type { RunInput } from '../../../src/contract/run.ts';
import type { Fault } from '../../../src/sandbox/faults.ts';
import type { Scenario } from '../../model/scenario.ts';
import type { Tape } from '../tape.ts';

const MINUTE = 60_000;
/** A zero on the tape sets no limit. Half of the runs get an outage budget, and three in eight a limit for deployments. */
const OUTAGE_BUDGETS_MS = [undefined, undefined, MINUTE, 10 * MINUTE];
const START_DEPLOYS_WITHIN_MS = [...Array<undefined>(5), MINUTE / 12, MINUTE, 10 * MINUTE];
const WAITS = [undefined, 'pooled'] as const;
/** How many times as often a read fails. */
const READ_FAULTS = [1, 1, 1, 8];
/** A request in doubt without an effect, and a pause that the service asks for before the next one. */
const PAUSE_IN_DOUBT: Fault[] = [
  { route: 'deploy', answer: { kind: 'none' }, effect: false },
  { route: 'deploy', answer: { kind: 'status', code: 429, retryAfter: '60' }, effect: false },
];

export function withLongDraws(scenario: Scenario, tape: Tape): Scenario {
  const oneOf = <T>(what: string, values: readonly T[]): T => values[tape.choose(what, values.length)] as T;
  const limitsOf = ({ deploy }: RunInput) =>
    definedFields({
      waits: oneOf('waits', WAITS),
      outageBudgetMs: oneOf('outage budget', OUTAGE_BUDGETS_MS),
      startDeploysWithinMs: deploy && oneOf('deploys within', START_DEPLOYS_WITHIN_MS),
    });
  return {
    ...scenario,
    runs: scenario.runs.map((run) => ({ ...run, input: { ...run.input, ...limitsOf(run.input) } })),
    faults: [
      ...oneOf('pause in doubt', [[], [], [], PAUSE_IN_DOUBT]),
      ...scenario.faults.map((fault) => {
        const isOfRead = fault.route === 'latest' || fault.route === 'backup';
        return isOfRead ? { ...fault, times: (fault.times ?? 1) * oneOf('read faults', READ_FAULTS) } : fault;
      }),
    ],
  };
}
