import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Worker } from '@temporalio/worker';
import { bundleFromSource } from '../../../src/worker/bundle/bundle-from-source.ts';
import type { Scenario } from '../../model/scenario.ts';
import { playTwice } from '../checks/check-other-plays.ts';
import { check, checkSeed, everySecondOff, findingsOf } from '../checks/check-seed.ts';
import { forgotten } from '../checks/forgotten.ts';
import { overdue } from '../checks/liveness.ts';
import { exportHistory } from '../core/export-history.ts';
import { keptTapes } from '../shrink/kept.ts';
import { play, scenarioOf, type Play } from '../plays/play.ts';
import { durationMs, openSandboxes, type Sandboxes } from '../core/sdk.ts';
import { notMet, situationsIn } from '../checks/situations.ts';
import { playRollout, type RolloutPlay } from '../plays/rollout-play.ts';
import { recordedTape, seededTape } from '../tape.ts';
import { NO_REPORTS } from '../../support/no-reports.ts';

/** Together with the first ones, they meet every situation. They are among those that cost the least. */
const COVERING = [175, 361, 440, 453, 504, 574, 656, 663, 855, 1220, 1635, 1710];
/** `npm run test:sim` plays others. */
const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8, ...COVERING];
const MONTH_MS = 30 * 24 * 3_600_000;
/** Of these, the histories are replayed. */
const REPLAYED = 8;
/** Of rollouts. Together they have decisions of each kind, held servers, gates of each end, restarts and a cancellation. */
const ROLLOUT_SEEDS = [8, 9, 10, 12, 17, 35, 40];

test('a time of the server is cut to whole milliseconds, as in the SDK, and not rounded up', () => {
  assert.equal(durationMs({ seconds: 1_800_000_000, nanos: 123_999_999 }), 1_800_000_000_123);
});

describe('the workflows in virtual time, with the budgets of production', () => {
  let codePath: string;
  let sandboxes: Sandboxes;
  const plays: Play[] = [];
  const rollouts: RolloutPlay[] = [];
  before(async () => {
    codePath = await bundleFromSource();
    sandboxes = await openSandboxes(codePath);
  });
  after(() => sandboxes.close());

  test(`${SEEDS.length} seeds break no invariant, and played twice, with caches or without, they are the same, and they meet every situation`, async () => {
    const found: string[] = [];
    const met = new Set<string>();
    for (const seed of SEEDS) {
      const { findings, play } = await checkSeed(sandboxes, seed, everySecondOff(seed));
      found.push(...findings.map((finding) => `npm run test:sim -- --seeds 1 --from ${seed} --story: ${finding}`));
      for (const situation of situationsIn(play)) met.add(situation);
      if (plays.length < REPLAYED) plays.push(play);
    }
    assert.deepEqual(found, []);
    assert.deepEqual(notMet(met), [], 'situations that no seed meets: choose other seeds, or sharpen the draws');
  });

  test('a waiter that a holder does not pass on is reported', async () => {
    const { world } = await firstWith(sandboxes, 'a lock is handed over with a queue');
    assert.deepEqual(forgotten(world), []);
    for (const run of world.server.runs) run.history = run.history.filter(({ kind }) => kind !== 'signalSent');
    assert.match(forgotten(world).join('\n'), /^S1: \S+ closed and had not passed on \S+, which waits/m);
  });

  test('an execution that closes after its budgets is reported, counted from when nothing went wrong any more', async () => {
    const late = await play(sandboxes, scenarioOf(1), seededTape(1));
    assert.deepEqual(overdue(late), []);
    const { runs } = late.world.server;
    for (const run of runs) run.closedMs! += MONTH_MS;
    assert.ok(overdue(late).length > 0);
    late.world.calmMs! += MONTH_MS;
    assert.deepEqual(overdue(late), []);
  });

  for (const { name, found, kept } of keptTapes()) {
    test(`a tape that once failed breaks no invariant: ${name}`, async () => {
      const second = found.includes('caches') ? 'off' : 'drawn';
      const { findings } = await check(sandboxes, kept.scenario, () => recordedTape(kept.choices), second);
      assert.deepEqual(findings, []);
    });
  }

  test('after a request in doubt and one that meets an operation in progress, no other request follows', async () => {
    const pausing = await playPause(sandboxes, 423);
    assert.deepEqual(findingsOf(pausing), []);
    assert.equal(pausing.played.journal.filter(({ request }) => request.startsWith('POST')).length, 2);
    const [run] = pausing.played.runs;
    assert.match(run?.result?.error?.message ?? '', /an operation in progress, which may be ours/);
  });

  test('after a request in doubt, a pause of all requests leaves a gap in the reads, and no other request follows', async () => {
    const pausing = await playPause(sandboxes, 429);
    assert.deepEqual(findingsOf(pausing), []);
    assert.equal(pausing.played.journal.filter(({ request }) => request.startsWith('POST')).length, 2);
    const [run] = pausing.played.runs;
    assert.match(run?.result?.error?.message ?? '', /the status was not read for a while/);
  });

  test(`${ROLLOUT_SEEDS.length} rollouts keep their limits, and played twice, with caches or without, they are the same`, async () => {
    for (const seed of ROLLOUT_SEEDS) {
      const { first, findings } = await playTwice(sandboxes, seed, playRollout, everySecondOff(seed));
      assert.deepEqual(findings, [], `seed ${seed}`);
      rollouts.push(first);
    }
    const kinds = new Set(rollouts.flatMap(({ rollout }) => rollout.history.map(({ kind }) => kind)));
    for (const kind of ['updateCompleted', 'signaled', 'cancelRequested', 'taskTimedOut'] as const)
      assert.ok(kinds.has(kind), `no rollout has ${kind}`);
  });

  // Last, because a replay turns on a hook that makes every later promise slower.
  test("the SDK's core accepts the histories of the simulator", async () => {
    const histories = [...plays, ...rollouts].flatMap(({ world }) =>
      world.server.runs.map((run) => ({ workflowId: run.workflowId, history: exportHistory(run) })),
    );
    const refused: string[] = [];
    for await (const { workflowId, error } of Worker.runReplayHistories(
      { ...NO_REPORTS, workflowBundle: { codePath } },
      histories,
    )) {
      if (error !== undefined) refused.push(`${workflowId}: ${error.message}`);
    }
    assert.deepEqual(refused, []);
    assert.ok(histories.length >= 2 * REPLAYED, `${histories.length} histories`);
  });
});

async function firstWith(sandboxes: Sandboxes, situation: string): Promise<Play> {
  for (let seed = 1; ; seed += 1) {
    const played = await play(sandboxes, scenarioOf(seed), seededTape(seed));
    if (situationsIn(played).includes(situation)) return played;
  }
}

/** Nothing goes wrong but this: a request is never answered, and the next one is to wait for a minute. */
function playPause(sandboxes: Sandboxes, code: number): Promise<Play> {
  const deploy = { intervalMs: 2_000, tries: 70, baselineWaitMs: 60_000 };
  const fault = { route: 'deploy', target: 'a1', effect: false } as const;
  const scenario: Scenario = {
    ...{ startMs: 0, scripts: { a1: [{ durationMs: 3_000, ends: 'completed' }] }, past: ['a1'] },
    faults: [
      { ...fault, answer: { kind: 'none' } },
      { ...fault, answer: { kind: 'status', code, retryAfter: '60' } },
    ],
    runs: [{ type: 'deployOnly', input: { siteIds: ['a1'], deploy }, key: '', again: false, given: false }],
    acts: [{ atMs: 0, do: 'start', run: 0 }],
  };
  return play(sandboxes, scenario, recordedTape([]));
}
