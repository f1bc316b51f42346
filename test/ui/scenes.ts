/** The runs and rollouts that the pages show, each started when a test first asks for it. */
import type { RunInput } from '../../src/contract/run.ts';
import type { Rollout, Run } from '../../src/starter.ts';
import { eventually } from '../support/eventually.ts';
import { began } from '../support/journal.ts';
import { resultOf } from '../support/outcome.ts';
import { stage } from './stage.ts';

const PACE = { intervalMs: 1_000, tries: 30 };
/** Longer than all tests. */
const LONG = { intervalMs: 10_000, tries: 360 };
const QUICK = { intervalMs: 1_000, tries: 2_000 };
const META = { commit: '4f2c9e1', note: 'the new cart' };

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

async function closed(input: RunInput, key: string): Promise<Run> {
  const run = await (await stage()).belay.start({ backup: PACE, deploy: PACE, meta: META, ...input }, { key });
  await resultOf(run);
  return run;
}

/** A deployment of its first site that does not end. */
async function building(input: RunInput & { siteIds: [string, ...string[]] }, key: string): Promise<Run> {
  const { belay, sandbox } = await stage();
  const [site] = input.siteIds;
  sandbox.script({ site }, { words: ['building'], ends: 'never' });
  const run = await belay.start({ deploy: LONG, meta: META, ...input }, { key });
  await eventually('the deployment', () => began(sandbox, 'deployment', site).length === 1);
  return run;
}

export const completedRun = once(() => closed({ serverId: 's1', siteIds: ['a1'] }, 'release-7'));

export const failedRun = once(async () => {
  const { belay, sandbox } = await stage();
  sandbox.script({ site: 'a3' }, { ends: 'never' });
  const input = { serverId: 's2', siteIds: ['a2', 'a3', 'a4'], backup: PACE, deploy: QUICK, meta: META };
  const run = await belay.start(input, { key: 'release-8' });
  // A busy machine would not see in progress what ends soon.
  await eventually('a status in progress', async () => (await run.status()).result.deployments[1]?.inProgressAt);
  sandbox.finish({ site: 'a3' }, 'failed');
  await resultOf(run);
  return run;
});

export const frozenRun = once(() => closed({ serverId: 's3', siteIds: ['f1'] }, 'release-10'));

/** One of two people has approved it. */
export const askingRun = once(async () => {
  const { belay } = await stage();
  const run = await belay.start({ serverId: 's4', siteIds: ['p1'], meta: META }, { key: 'release-13' });
  const question = await eventually('the question', () => belay.approvals.question(run.workflowId));
  const answer = { plan: question.hash, by: 'ana', why: 'looks good', proof: { kind: 'none' } } as const;
  await belay.approvals.approve(run.workflowId, answer);
  return run;
});

/** The service reports that it completed, and its site answers 503 ever since. */
export const failedCheckRun = once(async () => {
  const { sandbox } = await stage();
  const past = [
    { durationMs: 0, commit: 'aaaaaaa' },
    { durationMs: 0, ends: 'failed' },
  ];
  sandbox.script({ site: 'c1' }, ...past, { durationMs: 1_500, commit: META.commit });
  past.forEach(() => sandbox.act({ site: 'c1' }));
  const answer = { kind: 'status', code: 503 } as const;
  sandbox.fault({ route: 'page', target: 'c1', answer, skip: 1, times: 10_000 });
  return closed({ siteIds: ['c1'], commit: META.commit }, 'release-12');
});

export const runInFlight = once(() => building({ siteIds: ['a5', 'a6'] }, 'release-9'));

/** Waits for the lock that the run in flight holds. */
export const queuedRun = once(async () => {
  await runInFlight();
  const input = { siteIds: ['a5'], deploy: LONG, meta: { commit: 'b81d0c3', note: 'fixes the cart' } };
  return (await stage()).belay.start(input, { key: 'hotfix-1' });
});

export const followingRun = once(async () => {
  await runInFlight();
  return (await stage()).belay.start({ siteIds: ['a5'], deploy: LONG }, { type: 'watchDeployment', key: 'push-1' });
});

/** The service answers no read of its site. */
export const parkedRun = once(async () => {
  const run = await building({ siteIds: ['a7'], deploy: QUICK, outageBudgetMs: 3_600_000 }, 'release-11');
  (await stage()).sandbox.fault({
    route: 'latest',
    target: 'a7',
    times: 10_000,
    answer: { kind: 'status', code: 503 },
  });
  await eventually('the parked run', async () => {
    const { waiting } = await run.status();
    return waiting !== null && 'parked' in waiting;
  });
  return run;
});

const server = (n: number) => ({ serverId: `r${n}`, siteIds: [`x${n}`, `y${n}`] });

/** Its first server is completed, its second failed, its third is in progress, its fourth pending. */
export const rolloutInFlight = once(async (): Promise<Rollout> => {
  const { belay, sandbox } = await stage();
  sandbox.script({ server: 'r2' }, { durationMs: 500, ends: 'failed' });
  sandbox.script({ site: 'x3' }, { words: ['building'], ends: 'never' });
  const rollout = await belay.rollouts.start({
    ...{ name: 'nightly', fleet: 'shop', key: '2026-11-24', meta: META },
    waves: [
      { name: 'canary', targets: [server(1)] },
      { name: 'remaining', targets: [2, 3, 4].map(server) },
    ],
    ...{ maxAtOnce: 1, maxFailures: 1, onFailures: 'pause' },
    options: { backup: PACE, deploy: QUICK },
  });
  await eventually('the third server', async () => {
    const { targets } = (await rollout.status()).result;
    return targets.find(({ serverId }) => serverId === 'r3')?.workflowId != null;
  });
  return rollout;
});
