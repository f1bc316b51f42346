/** Who answers a question, and when. */
import assert from 'node:assert/strict';
import { deploySiteId } from '../../../src/contract/ids.ts';
import type { RunInput } from '../../../src/contract/run.ts';
import type { Rollout, Run } from '../../../src/starter.ts';
import { eventually } from '../../support/eventually.ts';
import { fresh } from '../../support/fresh.ts';
import { endOf, rolloutOf, servers } from '../../support/rollouts.ts';
import { APPROVAL, BRIEF, PAIR, PEOPLE } from '../configuration.ts';
import { completedServers, decided, question, reached, startedServer, waitingFor } from '../reach.ts';
import { ended, type Scenario } from '../scenario.ts';
import { PACE, type Stage } from '../stage.ts';

const ANNE = { by: 'anne', reason: 'the shop is slow' };

const asking = async (stage: Stage, approval: string, more: Partial<RunInput> = {}): Promise<Run> => {
  const run = await stage.start({ siteIds: [fresh('a')], approval, ...more });
  await question(stage, run.workflowId);
  return run;
};

/** Two servers in two waves. */
function inWaves({ belay }: Stage, approval: string | undefined, ofSecond?: string): Promise<Rollout> {
  const [first, second] = servers(2);
  const waves = [
    { name: 'canary', targets: [first] },
    { name: 'rest', targets: [second!], ...(ofSecond === undefined ? {} : { approval: ofSecond }) },
  ];
  const asked = approval === undefined ? {} : { approval };
  return belay.rollouts.start(rolloutOf([], { waves, ...asked, options: { backup: PACE, deploy: PACE } }));
}

async function stopped(rollout: Rollout, type: string, completed: number): Promise<void> {
  const { error, servers: counts } = await endOf(rollout);
  assert.deepEqual([error?.type, counts.completed], [type, completed], error?.message);
}

/** Until what was approved before is good no more. */
const aMinuteLater = (approvedMs: number) => eventually('the end of a minute', () => Date.now() > approvedMs + 62_000);

export const APPROVALS: Scenario[] = [
  {
    // The answer of a third one does not count.
    name: 'approved-by-two',
    async play(stage) {
      const run = await asking(stage, PAIR);
      await assert.rejects(decided(stage, 'approve', run.workflowId, 'mallory'), /mallory/);
      for (const by of PEOPLE) await decided(stage, 'approve', run.workflowId, by);
      const { held } = await ended(run, 'completed');
      assert.equal(held[0]?.by, PEOPLE.join(', '));
      return [run];
    },
  },
  {
    name: 'not-approved-in-time',
    isLong: true,
    async play(stage) {
      const run = await asking(stage, BRIEF);
      await ended(run, 'ApprovalExpired');
      return [run];
    },
  },
  {
    name: 'not-approved-before-its-deadline',
    async play(stage) {
      const run = await stage.start({ siteIds: [fresh('a')], approval: APPROVAL, startDeploysWithinMs: 3_000 });
      await ended(run, 'TooLate');
      return [run];
    },
  },
  {
    name: 'cancelled-before-it-was-approved',
    async play(stage) {
      const run = await asking(stage, APPROVAL);
      await run.cancel();
      await ended(run, 'Cancelled');
      return [run];
    },
  },
  {
    // It is good no more once the first site is free, and so not for the second one either.
    name: 'approval-ran-out',
    isLong: true,
    async play(stage) {
      const [site, other] = [fresh('a'), fresh('a')];
      stage.sandbox.script({ site }, { ends: 'never' });
      stage.sandbox.act({ site });
      const deploy = { intervalMs: 10_000, tries: 30, baselineWaitMs: 300_000 };
      const run = await asking(stage, BRIEF, { siteIds: [site, other], deploy, keepGoing: true });
      await decided(stage, 'approve', run.workflowId);
      const approvedMs = Date.now();
      await waitingFor(run, 'baseline');
      await aMinuteLater(approvedMs);
      stage.sandbox.finish({ site }, 'completed');
      const { deployments } = await ended(run, 'ApprovalExpired');
      assert.deepEqual(
        deployments.map(({ error }) => error?.type),
        ['ApprovalExpired', 'ApprovalExpired'],
      );
      return [run, { workflowId: deploySiteId(site) }];
    },
  },
  {
    name: 'wave-not-approved',
    async play(stage) {
      const rollout = await inWaves(stage, undefined, APPROVAL);
      await decided(stage, 'reject', rollout.workflowId);
      await stopped(rollout, 'ApprovalRejected', 1);
      return [rollout];
    },
  },
  {
    name: 'rollout-not-approved',
    async play(stage) {
      const rollout = await inWaves(stage, APPROVAL);
      await decided(stage, 'reject', rollout.workflowId);
      await stopped(rollout, 'ApprovalRejected', 0);
      return [rollout];
    },
  },
  {
    name: 'aborted-before-it-was-approved',
    async play(stage) {
      const rollout = await inWaves(stage, APPROVAL);
      await question(stage, rollout.workflowId);
      await rollout.abort(ANNE);
      await stopped(rollout, 'Cancelled', 0);
      return [rollout];
    },
  },
  {
    name: 'approval-of-a-rollout-ran-out',
    isLong: true,
    async play(stage) {
      const rollout = await inWaves(stage, BRIEF);
      await decided(stage, 'approve', rollout.workflowId);
      const approvedMs = Date.now();
      await startedServer(rollout);
      await rollout.pause(ANNE);
      await completedServers(rollout, 1);
      await reached(rollout, 'paused');
      await aMinuteLater(approvedMs);
      await rollout.resume(ANNE);
      await stopped(rollout, 'ApprovalExpired', 1);
      return [rollout];
    },
  },
];
