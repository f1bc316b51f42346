/** How long it would take, by the past of its operations, and whether a freeze begins meanwhile. */
import { backupServerId, lockIdOf } from '../../contract/ids/workflow-ids.ts';
import { beginsText } from '../../contract/wording/freeze-text.ts';
import { nextFreeze, type NextFreeze } from '../../policy/next-freeze.ts';
import { policyOf, type PlannedOperation } from '../../policy/policy.ts';
import type { OperationAdvice } from '../../rules/past/advice.ts';
import { usualText } from '../output/advice-text.ts';
import { etaOfRuns, type PastOfRun } from '../../rules/past/eta-of-runs.ts';
import type { Part, Planned, PlannedRun } from './planned.ts';

export const etaPart: Part = {
  name: 'eta',
  async look(planned, { belay, configuration }) {
    const of = planned.runs.flatMap(operationsOf).map((it) => ('target' in it ? { target: it.target } : it));
    const past = await belay.advise({ of }).catch((): OperationAdvice[] => []);
    const eta = etaOfRuns(
      planned.runs.map((run) => pastOf(run, past)),
      planned.rollout?.maxAtOnce ?? 1,
    );
    const freeze = eta === null ? null : freezeWithin(planned, policyOf(configuration), eta.p95Ms ?? eta.usuallyMs);
    return {
      value: {
        usuallyMs: eta?.usuallyMs ?? null,
        p95Ms: eta?.p95Ms ?? null,
        freeze: freeze === null ? null : { ...freeze.by, beginsAt: new Date(freeze.atMs).toISOString() },
      },
      lines: [
        eta === null ? 'duration: not known, too few of its operations ended lately' : `duration: ${usualText(eta)}`,
        ...(freeze === null ? [] : [beginsText(freeze.by.name, freeze.atMs - Date.now())]),
      ],
    };
  },
};

const operationsOf = ({ serverId, targets }: PlannedRun): PlannedOperation[] => [
  ...(serverId === undefined ? [] : [{ serverId }]),
  ...targets.map((target) => ({ target, serverId })),
];

const lockOf = (operation: PlannedOperation): string =>
  'target' in operation ? lockIdOf(operation.target) : backupServerId(operation.serverId);

const lockOfAdvice = ({ target, serverId }: OperationAdvice): string =>
  target === null ? backupServerId(serverId ?? '') : lockIdOf(target);

function pastOf(run: PlannedRun, past: readonly OperationAdvice[]): PastOfRun {
  return operationsOf(run).map((operation) => past.find((it) => lockOfAdvice(it) === lockOf(operation)) ?? null);
}

function freezeWithin({ runs }: Planned, policy: ReturnType<typeof policyOf>, withinMs: number): NextFreeze | null {
  const nowMs = Date.now();
  const found = runs
    .flatMap(operationsOf)
    .flatMap((it) => nextFreeze(policy, it, { nowMs, untilMs: nowMs + withinMs }) ?? [])
    .sort((a, b) => a.atMs - b.atMs);
  return found[0] ?? null;
}
