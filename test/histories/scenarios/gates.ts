/** What follows gates, and who decides if they do not pass. */
import assert from 'node:assert/strict';
import type { OnGates } from '../../../src/features/gates/shapes.ts';
import type { Rollout } from '../../../src/starter.ts';
import { eventually } from '../../support/eventually.ts';
import { fresh } from '../../support/fresh.ts';
import { endOf, rolloutOf, servers } from '../../support/rollouts.ts';
import { BAD_GATE, DRY_GATE, GOOD_GATE, PAGE_GATE, WAVE_GATE } from '../configuration.ts';
import { reached, startedServer } from '../reach.ts';
import type { Scenario } from '../scenario.ts';
import { PACE, type Stage } from '../stage.ts';

const ANNE = { by: 'anne', reason: 'the graph is broken' };
const [BAD, GOOD, NOTHING] = ['5', '0', null];

interface Gated {
  rollout: Rollout;
  /** What the gate measures from now on. */
  measure: (value: string | null) => void;
}

/** A canary whose gate measures this, and another server. */
async function gated(
  { belay, measure }: Stage,
  value: string | null,
  onGates: OnGates = {},
  gate: string = WAVE_GATE,
): Promise<Gated> {
  const wave = fresh('canary');
  const [canary, rest] = servers(2);
  const waves = [
    { name: wave, targets: [canary], after: { bakeMs: 500, gates: [gate] } },
    { name: 'rest', targets: [rest!] },
  ];
  measure(`"${wave}"`, value);
  const rollout = await belay.rollouts.start(
    rolloutOf([], { waves, onGates, options: { backup: PACE, deploy: PACE } }),
  );
  return { rollout, measure: (it) => measure(`"${wave}"`, it) };
}

const actionsOf = async (rollout: Rollout) => (await rollout.status()).result.decisions.map(({ action }) => action);

/** The rollout ends like this, after these decisions. */
async function ended(rollout: Rollout, type: string, ...actions: string[]): Promise<void> {
  const { outcome, error } = await endOf(rollout);
  assert.deepEqual([error?.type ?? outcome, ...(await actionsOf(rollout))], [type, ...actions], error?.message);
}

/** A gate without data is measured again after five minutes, however short its interval is. */
async function inDoubt(stage: Stage, onGates: OnGates = {}): Promise<Gated> {
  const it = await gated(stage, NOTHING, onGates);
  await reached(it.rollout, 'paused');
  return it;
}

export const GATES: Scenario[] = [
  {
    name: 'gate-passed',
    async play(stage) {
      const { rollout } = await gated(stage, GOOD, {}, GOOD_GATE);
      assert.equal((await endOf(rollout)).outcome, 'completed');
      return [rollout];
    },
  },
  {
    name: 'page-gate-passed',
    async play(stage) {
      const { rollout } = await gated(stage, GOOD, {}, PAGE_GATE);
      assert.equal((await endOf(rollout)).outcome, 'completed');
      return [rollout];
    },
  },
  {
    name: 'gate-failed',
    async play(stage) {
      const { rollout } = await gated(stage, BAD, {}, BAD_GATE);
      assert.equal((await endOf(rollout)).error?.type, 'GateFailed');
      return [rollout];
    },
  },
  {
    name: 'gate-failed-and-resumed',
    async play(stage) {
      const { rollout } = await gated(stage, BAD, { failed: 'pause' });
      await reached(rollout, 'paused');
      await rollout.resume(ANNE);
      await ended(rollout, 'completed', 'pause', 'resume');
      return [rollout];
    },
  },
  {
    name: 'gate-failed-and-aborted',
    async play(stage) {
      const { rollout } = await gated(stage, BAD, { failed: 'pause' });
      await reached(rollout, 'paused');
      await rollout.abort(ANNE);
      await ended(rollout, 'GateFailed', 'pause', 'abort');
      return [rollout];
    },
  },
  {
    name: 'gate-overridden',
    async play(stage) {
      const { rollout } = await inDoubt(stage);
      await rollout.resume(ANNE);
      await ended(rollout, 'completed', 'pause', 'resume');
      return [rollout];
    },
  },
  {
    name: 'gate-aborted',
    async play(stage) {
      const { rollout } = await inDoubt(stage);
      await rollout.abort(ANNE);
      await ended(rollout, 'Cancelled', 'pause', 'abort');
      return [rollout];
    },
  },
  {
    name: 'gate-inconclusive',
    async play(stage) {
      const { rollout } = await gated(stage, NOTHING, { inconclusive: 'stop' });
      await ended(rollout, 'OutcomeUnknown', 'stop');
      return [rollout];
    },
  },
  {
    name: 'gate-healed',
    isLong: true,
    async play(stage) {
      const { rollout, measure } = await inDoubt(stage);
      measure(GOOD);
      await ended(rollout, 'completed', 'pause', 'resume');
      return [rollout];
    },
  },
  {
    name: 'gate-failed-late',
    isLong: true,
    async play(stage) {
      const { rollout, measure } = await inDoubt(stage);
      measure(BAD);
      await ended(rollout, 'GateFailed', 'pause', 'stop');
      return [rollout];
    },
  },
  {
    name: 'gate-without-patience',
    isLong: true,
    async play(stage) {
      const { rollout } = await inDoubt(stage, { patienceMs: 300_000 });
      await ended(rollout, 'OutcomeUnknown', 'pause', 'stop');
      return [rollout];
    },
  },
  {
    // It bakes in a pause, too.
    name: 'gate-rehearsed',
    async play(stage) {
      const { rollout } = await gated(stage, null, {}, DRY_GATE);
      await startedServer(rollout);
      await rollout.pause(ANNE);
      await eventually('the note', async () => (await actionsOf(rollout)).includes('note'));
      await rollout.resume(ANNE);
      await ended(rollout, 'completed', 'pause', 'note', 'resume');
      return [rollout];
    },
  },
];
