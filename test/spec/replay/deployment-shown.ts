/** What the simulator shows of the variables of docs/spec/deployment.qnt: results, queries, and the service's journal. */
import { QUERIES } from '../../../src/contract/names.ts';
import type { OperationProgress } from '../../../src/contract/operation.ts';
import type { DeploymentResult } from '../../../src/contract/run.ts';
import type { Sandboxes } from '../../sim/core/sdk.ts';
import { queryRun } from '../../sim/stack/query.ts';
import { resultOf } from '../../sim/plays/record.ts';
import type { Run } from '../../sim/temporal/types.ts';
import type { DeploymentState } from './deployment-model.ts';
import type { DeploymentStage } from './deployment-stage.ts';

/** @returns what differs, as `name: model / code` */
export async function differences(
  sandboxes: Sandboxes,
  stage: DeploymentStage,
  model: DeploymentState,
): Promise<string[]> {
  const found: string[] = [];
  const compare = (name: string, expected: unknown, shown: unknown) => {
    const [a, b] = [JSON.stringify(expected), JSON.stringify(shown)];
    if (a !== b) found.push(`${name}: ${a} / ${b}`);
  };
  for (const [number, phase] of model.phase) {
    const operation = stage.operationOf(number);
    const isOpen = operation !== undefined && operation.closedMs === null;
    // Code that reads the end of a deployment decides at once.
    if (isDecidable(model, number) && operation !== undefined && !isOpen) {
      compare(`outcome of run ${number}`, 'Decided', outcomeOf(stage, number));
      continue;
    }
    compare(`run ${number} holds the lock`, model.holder === number, isOpen);
    compare(`requests of run ${number}`, model.requests.get(number), stage.requestsOf(number));
    if (operation === undefined) compare(`phase of run ${number}`, phase, 'Idle');
    else if (!isOpen) compare(`outcome of run ${number}`, model.outcome.get(number), outcomeOf(stage, number));
    else if (phase === 'Doubt' || phase === 'Verdict') {
      // A trace is found while the tick still goes on.
      const expected = phase === 'Verdict' || model.traced ? 'wait' : 'reconcile';
      compare(`phase of run ${number}`, expected, await phaseOf(sandboxes, operation));
    }
  }
  compare(
    'deployments',
    model.deployments.map(({ by }) => by),
    stage.deployments().map((_, index) => makerOf(stage, index)),
  );
  return found;
}

/** By the length of the history, which is replayed for the answer. */
const answers = new WeakMap<Run, { length: number; phase: string }>();

async function phaseOf(sandboxes: Sandboxes, operation: Run): Promise<string> {
  const { length } = operation.history;
  const known = answers.get(operation);
  if (known?.length === length) return known.phase;
  const { phase } = await queryRun<OperationProgress>(sandboxes, operation, QUERIES.progress);
  answers.set(operation, { length, phase });
  return phase;
}

function isDecidable(model: DeploymentState, number: number): boolean {
  const phase = model.phase.get(number);
  const isOver = model.deployments.every(({ lag, ended }) => lag > 0 || ended);
  return isOver && (phase === 'Verdict' || (phase === 'Doubt' && model.traced));
}

function makerOf(stage: DeploymentStage, index: number): number {
  const began = stage.world.service.state.journal.filter((it) => it.by === 'api' && it.began?.kind === 'deployment');
  const runId = began[index]?.idempotencyKey?.split(':')[0];
  return [...stage.runs].find(([, run]) => run.runId === runId)?.[0] ?? 0;
}

const OUTCOMES: Partial<Record<string, string>> = {
  not_started: 'NotStarted',
  unknown: 'Unknown',
  cancelled: 'Cancelled',
  completed: 'Decided',
};

function outcomeOf(stage: DeploymentStage, number: number): string {
  const { outcome } = stage.operationOf(number)!;
  if (outcome === 'terminated') return 'NoOutcome';
  const result = resultOf<DeploymentResult>(outcome)?.outcome ?? 'none';
  return OUTCOMES[result] ?? result;
}
