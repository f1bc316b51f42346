/** Estimates from the past how long the request would take, and whether a freeze begins meanwhile. */
import { beginsText } from '../freezes/text.ts';
import { firstFreezeAhead } from './actions-ahead.ts';
import { operationsOf, type PlannedOperation } from '../../contract/target.ts';
import { type OperationAdvice, etaOfRuns } from './rules.ts';
import { nameOfAdvice, usualText } from './actions.ts';
import type { DryRunPart } from '../../cli/dry-run.ts';

export const etaPart: DryRunPart = {
  name: 'eta',
  async look(planned, { belay, policy }) {
    const { runs, rollout, options } = planned;
    const operations = runs.flatMap(operationsOf);
    const of = operations.map((it) => ('target' in it ? { target: it.target } : it));
    const past = await belay.advise({ of }).catch((): OperationAdvice[] => []);
    const pastOf = (operation: PlannedOperation) =>
      past.find((it) => nameOfAdvice(it) === nameOfAdvice(operation)) ?? null;
    const eta = etaOfRuns(
      runs.map((run) => operationsOf(run).map(pastOf)),
      rollout?.maxAtOnce ?? 1,
    );
    const nowMs = Date.now();
    const untilMs = nowMs + (eta === null ? 0 : (eta.p95Ms ?? eta.usuallyMs));
    const freeze = firstFreezeAhead(policy, operations, { nowMs, untilMs, letOff: new Set(options.override?.freezes) });
    return {
      value: {
        usuallyMs: eta?.usuallyMs ?? null,
        p95Ms: eta?.p95Ms ?? null,
        freeze: freeze === null ? null : { ...freeze.by, beginsAt: new Date(freeze.atMs).toISOString() },
      },
      lines: [
        eta === null ? 'duration: not known, too few of its operations ended lately' : `duration: ${usualText(eta)}`,
        ...(freeze === null ? [] : [beginsText(freeze.by.name, freeze.atMs - nowMs)]),
      ],
    };
  },
};
