/** What places outside are told of a run while it goes on, and of its end. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { reportId } from '../../../../src/contract/ids.ts';
import type { ReportMessage } from '../../../../src/features/notifications/shapes.ts';
import type { RunInput } from '../../../../src/contract/run.ts';
import { SIGNALS } from '../../../../src/contract/names.ts';
import { TIMING } from '../../../../src/contract/timing.ts';
import { fresh } from '../../../support/fresh.ts';
import { inVirtualTime, type VirtualStack } from '../../stack/stack.ts';
import type { Run } from '../../temporal/types.ts';
import { answer, isAsking } from '../runs/approvals/answers.ts';

const COMMIT = 'a'.repeat(40);
const TOKEN = { env: 'UNUSED' };
const configuration = {
  fleets: { shop: { servers: new Map([['12', { sites: ['34', '35'] }]]) } },
  notify: {
    reports: {
      shop: { kind: 'github' as const, repository: 'acme/shop', token: TOKEN, for: { sites: ['34', '35'] } },
      other: { kind: 'github' as const, repository: 'acme/other', token: TOKEN, for: { sites: ['36'] } },
    },
  },
};
const notify = {
  ...{ on: 'failed' as const, channels: [], heartbeats: ['night', 'noon'] },
  ...{ measured: ['night'], reports: ['shop', 'other'] },
};

const reporting = (body: (stack: VirtualStack) => Promise<void>) => inVirtualTime(body, { notify, configuration });

const deploy = ({ start }: VirtualStack, more: Partial<RunInput> = {}): Run =>
  start({ siteIds: ['34', '35'], commit: COMMIT, ...more }, { type: 'deployOnly' });

const childOf = ({ world }: VirtualStack, { workflowId, runId }: Run) => world.server.find(reportId(workflowId, runId));

const wordsFor = ({ world }: VirtualStack, isMeant: (to: ReportMessage['to']) => boolean): string[] =>
  world.notices.reported.filter(({ to }) => isMeant(to)).map(({ reported }) => reported.state);
const ofSite = (id: string) => (to: ReportMessage['to']) => to.kind === 'report' && to.target.id === id;
const ofHeartbeat = (to: ReportMessage['to']) => to.kind === 'heartbeat';

async function told(stack: VirtualStack, run: Run): Promise<void> {
  await stack.until('the end of the reports', () => childOf(stack, run)?.closedMs);
}

const sites = (count: number) => Array.from({ length: count }, (_, index) => String(index + 1));

describe('reports of runs', () => {
  test(
    'a repository is told of each of its sites, in order, and each site ends with its own outcome',
    reporting(async (stack) => {
      stack.sandbox.script({ site: '35' }, { durationMs: 30_000, ends: 'failed' });
      const run = deploy(stack);
      await stack.result(run);
      await told(stack, run);
      assert.deepEqual(wordsFor(stack, ofSite('34')), ['begun', 'completed']);
      assert.deepEqual(wordsFor(stack, ofSite('35')), ['begun', 'failed']);
      assert.ok(stack.world.notices.reported.every(({ to }) => to.name === 'shop'));
    }),
  );

  test(
    'a run that ends at once is told of by its end only',
    reporting(async (stack) => {
      const run = deploy(stack, { siteIds: ['34'], service: 'https://another.example', heartbeat: 'night' });
      assert.equal((await stack.result(run)).error?.type, 'Refused');
      await told(stack, run);
      assert.deepEqual(wordsFor(stack, ofSite('34')), ['refused']);
      assert.deepEqual(wordsFor(stack, ofHeartbeat), ['refused']);
    }),
  );

  test(
    'a run that waits for approval is told of as waiting, and its measurement starts after that',
    inVirtualTime(
      async (stack) => {
        const run = deploy(stack, { siteIds: ['34'], heartbeat: 'night' });
        const { hash } = await isAsking(stack, run);
        await stack.forward(3_600_000);
        const { state, text } = stack.world.notices.reported.at(-1)?.reported ?? {};
        assert.deepEqual([state, text], ['waiting', 'waits for approval']);
        assert.deepEqual(wordsFor(stack, ofHeartbeat), []);
        const yes = { plan: hash, by: 'ana', why: null, proof: { kind: 'none' as const } };
        assert.equal(await answer(stack, run, 'approve', yes), null);
        await told(stack, run);
        // Once it is approved, the site is read once more.
        assert.deepEqual(wordsFor(stack, ofSite('34')), ['waiting', 'waiting', 'begun', 'completed']);
        assert.deepEqual(wordsFor(stack, ofHeartbeat), ['begun', 'completed']);
      },
      { notify, configuration: { ...configuration, approvals: { production: { proof: 'none' } } } },
    ),
  );

  test(
    'a run without a full commit, and one whose sites no report is for, tell no repository',
    reporting(async (stack) => {
      for (const more of [{ commit: 'a'.repeat(12) }, { commit: COMMIT, siteIds: ['99'] }]) {
        const run = deploy(stack, more);
        await stack.result(run);
        assert.equal(childOf(stack, run), undefined);
      }
    }),
  );

  test(
    'a heartbeat of healthchecks is told of the start and of the end, and called no second time',
    reporting(async (stack) => {
      const run = stack.start({ serverId: fresh('server-'), siteIds: [], heartbeat: 'night' });
      assert.equal((await stack.result(run)).outcome, 'completed');
      await told(stack, run);
      assert.deepEqual(wordsFor(stack, ofHeartbeat), ['begun', 'completed']);
      assert.deepEqual(stack.world.notices.beats, []);
    }),
  );

  test(
    'a state that a later one overtook while a receiver asked to wait is not sent',
    reporting(async (stack) => {
      const wait = { kind: 'later', message: 'GitHub answered 429', afterMs: 3_600_000 } as const;
      stack.world.notices.reportTroubles.push(wait);
      const run = deploy(stack, { siteIds: ['34'] });
      await stack.result(run);
      assert.deepEqual(stack.world.notices.reported, []);
      await told(stack, run);
      assert.deepEqual(wordsFor(stack, ofSite('34')), ['completed']);
      assert.ok(stack.world.clock.nowMs - run.startedMs >= wait.afterMs);
    }),
  );

  test(
    'a state that a receiver refused does not hold back the next one',
    reporting(async (stack) => {
      const { world, sandbox, result } = stack;
      sandbox.script({ site: '34' }, { durationMs: 30_000, ends: 'completed' });
      world.notices.reportTroubles.push({ kind: 'refused', message: 'GitHub answered 422' });
      const run = deploy(stack, { siteIds: ['34'] });
      await result(run);
      const endedMs = world.clock.nowMs;
      await told(stack, run);
      assert.deepEqual(wordsFor(stack, ofSite('34')), ['completed']);
      assert.ok(world.clock.nowMs - endedMs < 60_000, 'it waited for the pause after the refusal');
    }),
  );

  test(
    'an older state that arrives after a newer one is not told',
    reporting(async (stack) => {
      stack.sandbox.script({ site: '34' }, { durationMs: 60_000, ends: 'completed' });
      const run = deploy(stack, { siteIds: ['34'] });
      await stack.until('the begin', () => wordsFor(stack, ofSite('34')).at(-1) === 'begun');
      const late = { atMs: run.startedMs, seq: 0, isEnd: true, run: { state: 'failed', text: 'late' }, parts: {} };
      stack.signal(reportId(run.workflowId, run.runId), SIGNALS.reported, late);
      await told(stack, run);
      assert.deepEqual(wordsFor(stack, ofSite('34')), ['begun', 'completed']);
    }),
  );

  test(
    'a change of one site that arrives after a newer change of another is told',
    reporting(async (stack) => {
      for (const site of ['34', '35']) stack.sandbox.script({ site }, { durationMs: 60_000, ends: 'completed' });
      const run = deploy(stack);
      await stack.until('the begin', () => wordsFor(stack, ofSite('35')).at(-1) === 'begun');
      const begun = { state: 'begun', text: 'in progress' };
      const changeOf = (site: string, seq: number) => ({
        ...{ atMs: stack.world.clock.nowMs, seq, isEnd: false, run: begun },
        parts: { [`deploy-site:${site}`]: { state: 'failed', text: `failed ${seq}` } },
      });
      for (const change of [changeOf('34', 1_002), changeOf('35', 1_001), changeOf('34', 1_000)])
        stack.signal(reportId(run.workflowId, run.runId), SIGNALS.reported, change);
      await told(stack, run);
      for (const site of ['34', '35'])
        assert.deepEqual(wordsFor(stack, ofSite(site)), ['begun', 'failed', 'completed'], site);
    }),
  );

  test(
    'a signal that is no state changes nothing',
    reporting(async (stack) => {
      stack.sandbox.script({ site: '34' }, { durationMs: 60_000, ends: 'completed' });
      const run = deploy(stack, { siteIds: ['34'] });
      await stack.until('the begin', () => wordsFor(stack, ofSite('34')).at(-1) === 'begun');
      for (const message of [undefined, null, 'failed', {}, { atMs: Date.now() * 2, run: null, parts: {} }])
        stack.signal(reportId(run.workflowId, run.runId), SIGNALS.reported, message);
      await told(stack, run);
      assert.deepEqual(wordsFor(stack, ofSite('34')), ['begun', 'completed']);
    }),
  );

  test(
    'a terminated run is told of as ended from outside',
    reporting(async (stack) => {
      const { sandbox, until, world } = stack;
      sandbox.script({ site: '34' }, { durationMs: 0, ends: 'never' });
      const run = deploy(stack, { siteIds: ['34'], heartbeat: 'night' });
      await until('the begin', () => wordsFor(stack, ofSite('34')).at(-1) === 'begun');
      stack.terminate(run.workflowId);
      const terminatedMs = world.clock.nowMs;
      await told(stack, run);
      const last = world.notices.reported.at(-1)?.reported;
      assert.deepEqual(last, { state: 'unclear', text: 'ended from outside' });
      assert.deepEqual(wordsFor(stack, ofSite('34')), ['begun', 'unclear']);
      assert.deepEqual(wordsFor(stack, ofHeartbeat), ['begun', 'unclear']);
      assert.ok(world.clock.nowMs - terminatedMs <= TIMING.report.lateLookMs);
    }),
  );

  test(
    'what a receiver refuses is sent again every ten minutes for an hour, and the run does not wait for it',
    reporting(async (stack) => {
      const { world, result } = stack;
      const refused = { kind: 'refused', message: 'GitHub answered 404' } as const;
      world.notices.reportTroubles.push(...Array.from({ length: 100 }, () => refused));
      const run = deploy(stack, { siteIds: ['34'] });
      assert.equal((await result(run)).outcome, 'completed');
      await told(stack, run);
      const { outcome, closedMs, startedMs } = childOf(stack, run)!;
      assert.ok(outcome !== null && outcome !== 'terminated' && 'failure' in outcome);
      assert.match(outcome.failure.message ?? '', /^not reported: report shop of deploy-site:34: GitHub answered 404$/);
      const refusedEnds = 1 + TIMING.report.refusals;
      assert.equal(100 - world.notices.reportTroubles.length, 1 + refusedEnds, 'the begin, and then the end');
      assert.ok(closedMs! - startedMs < 2 * 3_600_000);
    }),
  );

  for (const afterMs of [0, 1_000]) {
    test(
      `a receiver that always asks to come back after ${afterMs} ms is asked ever more seldom`,
      reporting(async (stack) => {
        const later = { kind: 'later', message: 'GitHub answered 429', afterMs } as const;
        const { reportTroubles } = stack.world.notices;
        reportTroubles.push(...Array.from({ length: 100 }, () => later));
        const run = deploy(stack, { siteIds: ['34'] });
        await stack.result(run);
        await stack.forward(3_600_000);
        assert.ok(100 - reportTroubles.length < 20, `it was asked ${100 - reportTroubles.length} times`);
      }),
    );
  }

  test(
    'what a run tells of its sites grows with them, not with their square',
    inVirtualTime(
      async (stack) => {
        const bytesOf = async (count: number) => {
          const siteIds = sites(count);
          const run = deploy(stack, { siteIds });
          assert.equal((await stack.result(run)).outcome, 'completed');
          await told(stack, run);
          for (const id of siteIds) assert.equal(wordsFor(stack, ofSite(id)).at(-1), 'completed');
          return JSON.stringify(childOf(stack, run)!.history).length;
        };
        const ratio = (await bytesOf(60)) / (await bytesOf(30));
        assert.ok(ratio < 2.2, `60 sites take ${ratio.toFixed(2)} times the bytes of 30`);
      },
      {
        notify,
        configuration: {
          notify: {
            reports: { shop: { kind: 'github', repository: 'acme/shop', token: TOKEN, for: { sites: sites(60) } } },
          },
        },
      },
    ),
  );

  test(
    'a run that waits for a lock and is cancelled is told of as cancelled',
    reporting(async (stack) => {
      stack.sandbox.script({ site: '34' }, { durationMs: 0, ends: 'never' });
      const holder = deploy(stack, { siteIds: ['34'] });
      await stack.forward(5_000);
      const waiter = stack.start({ siteIds: ['34'], commit: COMMIT, meta: { of: fresh('w') } }, { type: 'deployOnly' });
      await stack.forward(5_000);
      stack.cancel(waiter);
      await told(stack, waiter);
      const own = stack.world.notices.reported.filter(({ firstRunId }) => firstRunId === waiter.runId);
      assert.equal(own.at(-1)?.reported.state, 'cancelled');
      assert.ok(childOf(stack, holder)?.closedMs === null);
    }),
  );
});
