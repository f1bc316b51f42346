import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RunResult } from '../../../src/contract/run.ts';
import { playTwice } from '../checks/check-other-plays.ts';
import { everySecondOff } from '../checks/check-seed.ts';
import { misruled } from '../checks/waits.ts';
import { resultOf } from '../plays/record.ts';
import { playWaits, type WaitsPlay } from '../plays/waits-play.ts';
import { sharedSandboxes } from '../stack/shared-sandboxes.ts';

/** Chosen so that every end is met. */
const SEEDS = [2, 8, 9, 12];

describe('runs that are approved or replaced, in virtual time', () => {
  const plays: WaitsPlay[] = [];

  test(`in ${SEEDS.length} plays, nothing is sent before its approval, and nothing that was replaced is deployed`, async () => {
    const sandboxes = await sharedSandboxes();
    for (const seed of SEEDS) {
      const { first, findings } = await playTwice(sandboxes, seed, playWaits, everySecondOff(seed));
      assert.deepEqual(findings, [], `seed ${seed}`);
      plays.push(first);
    }
    const results = plays.flatMap(({ runs }) => runs.map((run) => resultOf<RunResult>(run.outcome)!));
    const met = new Set(
      results.flatMap(({ outcome, error, held }) => [outcome, error?.type, ...held.map(({ end }) => end)]),
    );
    for (const case_ of ['completed', 'Superseded', 'ApprovalRejected', 'ApprovalExpired', 'approved', 'cancelled'])
      assert.ok(met.has(case_ as never), `no run met: ${case_}`);
  });

  test('a request before the approval, and one of a run that was replaced, are findings', () => {
    const { world, runs } = plays.find((play) =>
      play.runs.some((run) => resultOf<RunResult>(run.outcome)?.error?.type === 'Superseded'),
    )!;
    const replaced = runs.find((run) => resultOf<RunResult>(run.outcome)?.error?.type === 'Superseded')!;
    const journal = world.service.state.journal;
    const sent = journal.find(({ request, began }) => request.includes('/deploy') && began !== null)!;
    journal.push({ ...sent, idempotencyKey: `${replaced.runId}:1` });
    assert.match(misruled(world, runs).join('\n'), new RegExp(`^${replaced.workflowId} was `, 'm'));
    journal.pop();
    assert.deepEqual(misruled(world, runs), []);
  });
});
