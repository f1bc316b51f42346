/** A scenario plays one case on a stage, and names the executions whose histories show it. */
import assert from 'node:assert/strict';
import { deploySiteId } from '../../src/contract/ids.ts';
import type { ErrorType } from '../../src/contract/names.ts';
import type { RunInput, RunResult } from '../../src/contract/run.ts';
import type { Run } from '../../src/starter.ts';
import { fresh } from '../support/fresh.ts';
import { resultOf } from '../support/outcome.ts';
import type { Stage } from './stage.ts';

export interface Kept {
  workflowId: string;
  /** Default: the latest execution. */
  runId?: string | null;
}

export interface Scenario {
  /** What is special about it: part of the names of its files. */
  name: string;
  /** It disturbs others. */
  alone?: true;
  /** It waits for a minute or more. */
  isLong?: true;
  /** @returns closed executions, at most one of each type */
  play: (stage: Stage) => Promise<Kept[]>;
}

type Expected = 'completed' | ErrorType;

/** Waits for a run. @throws AssertionError if it does not end as the scenario says */
export async function ended(run: Run, expected: Expected): Promise<RunResult> {
  const result = await resultOf(run);
  assert.equal(result.error?.type ?? result.outcome, expected, result.error?.message);
  return result;
}

/** The deployment of a site, and what to keep of it. */
export function deployment(
  name: string,
  expected: Expected,
  setUp: (stage: Stage, siteId: string) => unknown,
  input: Partial<RunInput> = {},
  siteId = fresh('a'),
): Scenario {
  return {
    name,
    async play(stage) {
      await setUp(stage, siteId);
      const run = await stage.start({ siteIds: [siteId], ...input });
      await ended(run, expected);
      return [run, { workflowId: deploySiteId(siteId) }];
    },
  };
}
