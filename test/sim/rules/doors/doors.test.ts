/** Each rule holds behind each door. docs/explanation/doors.md shows the table. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RolloutResult } from '../../../../src/features/rollouts/shapes.ts';
import type { RunResult } from '../../../../src/contract/run.ts';
import { resultOf } from '../../plays/record.ts';
import { inVirtualTime, type VirtualStack } from '../../stack/stack.ts';
import type { Run } from '../../temporal/types.ts';
import { deployPosts } from '../runs/runs-that-wait.ts';
import { PLAYED } from './cells.ts';
import { DOORS } from './doors.ts';
import { NO_RULE, SERVER, worldOf } from './rules.ts';

/** How an execution ended, and by which errors: its own, and those of the parts that the rule has to hold. */
async function endOf({ until }: VirtualStack, run: Run) {
  await until(`the end of ${run.workflowId}`, () => run.closedMs !== null);
  const { outcome } = run;
  const result = resultOf<RunResult | RolloutResult>(outcome);
  if (result !== null) return { outcome: result.outcome, types: errorsOf(result) };
  assert.ok(outcome !== null && outcome !== 'terminated' && 'failure' in outcome);
  return { outcome: null, types: [outcome.failure.applicationFailureInfo?.type ?? ''] };
}

function errorsOf(result: RunResult | RolloutResult): string[] {
  const parts = 'targets' in result ? result.targets.filter(({ serverId }) => serverId === SERVER) : result.deployments;
  return [result, ...parts].flatMap(({ error }) => error?.type ?? []);
}

describe('behind the door', () => {
  for (const { test: name, door, rule, kind } of PLAYED) {
    test(
      name,
      inVirtualTime(
        async (stack) => {
          const { runs, siteId, before, ownTypes } = await door.play(stack, rule, kind);
          assert.ok(runs.length > 0);
          for (const run of runs) {
            const { outcome, types } = await endOf(stack, run);
            assert.notEqual(outcome, 'completed');
            // A run that was reset does not know what it sent before.
            if (door === DOORS['reset of a run']) assert.notEqual(outcome, 'not_started');
            assert.ok(
              types.some((it) => rule.types.includes(it) || ownTypes.includes(it)),
              `${run.workflowId}: ${types.join()}`,
            );
          }
          const sent = deployPosts(stack, siteId) - before;
          assert.ok(sent <= rule.requests * runs.length, `${sent} requests for ${siteId}`);
        },
        worldOf(rule, kind, door.configuration),
      ),
    );
  }
});

describe('without a rule', () => {
  for (const [name, door] of Object.entries(DOORS)) {
    // Whatever the rule, a run that was reset sends nothing.
    if (name === 'reset of a run') continue;
    for (const kind of door.kinds) {
      test(
        `the door "${name}" lets a ${kind} send its request`,
        inVirtualTime(
          async (stack) => {
            const { runs, siteId, before } = await door.play(stack, NO_RULE, kind);
            for (const run of runs) await endOf(stack, run);
            assert.ok(deployPosts(stack, siteId) > before);
          },
          worldOf(NO_RULE, kind, door.configuration),
        ),
      );
    }
  }
});
