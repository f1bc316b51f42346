/** What became of a play, for the judge of the chaos model. */
import { defaultPayloadConverter as payloads } from '@temporalio/common';
import type { RunInput, RunResult } from '../../../src/contract/run.ts';
import type { Played, PlayedRun } from '../../model/record.ts';
import type { Scenario } from '../../model/scenario.ts';
import type { Outcome } from '../core/events.ts';
import { playedFreezes } from './gates.ts';
import { isOperation, type Run } from '../temporal/types.ts';
import type { World } from '../world.ts';

export interface Started {
  run: Run;
  input: RunInput;
  startedMs: number;
  cancelledMs: number | null;
}

export function record(world: World, scenario: Scenario, started: Map<string, Started>): Played {
  const { scripts, checked = [], answers = [] } = scenario;
  const { server, service, deeds, outages } = world;
  const runs = [...started.values()].map(({ run, input, startedMs, cancelledMs }): PlayedRun => {
    const { type, workflowId, runId, closedMs, outcome } = run;
    return {
      ...{ type: type as PlayedRun['type'], workflowId, runId, input, startedMs, cancelledMs, closedMs },
      result: resultOf(outcome),
      waitsEnded: [],
    };
  });
  const operations = server.runs.filter(isOperation);
  return {
    scripts,
    journal: service.state.journal,
    runs,
    freezes: playedFreezes(world, scenario),
    checked,
    answers,
    operations: operations.map(({ workflowId, parent, closedMs, outcome }) => ({
      workflowId,
      parentRunId: parent?.runId ?? null,
      closedMs,
      isTerminated: outcome === 'terminated',
    })),
    deeds: [...deeds],
    outages: [...outages],
  };
}

/** A run or rollout that did not complete fails with its result as a detail. */
export function resultOf<T = RunResult>(outcome: Outcome | 'terminated' | null): T | null {
  if (outcome === null || outcome === 'terminated') return null;
  if ('result' in outcome) return outcome.result === null ? null : payloads.fromPayload<T>(outcome.result);
  const [detail] = outcome.failure.applicationFailureInfo?.details?.payloads ?? [];
  return detail === undefined ? null : payloads.fromPayload<T>(detail);
}
