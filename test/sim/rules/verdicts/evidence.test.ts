import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { DeployOptions, RunResult } from '../../../../src/contract/run.ts';
import { HISTORY_BUDGET } from '../../../../src/contract/history-budget.ts';
import { TIMING } from '../../../../src/contract/timing.ts';
import type { Fault } from '../../../../src/sandbox/faults.ts';
import type { ScriptPart } from '../../../../src/sandbox/script.ts';
import { began, posts, reads } from '../../../support/journal.ts';
import { COMPLETED, FAILED, siteAfter } from '../../../support/sites.ts';
import { verdictLine } from '../../../support/verdict-line.ts';
import { inVirtualTime, type VirtualStack } from '../../stack/stack.ts';

/** The default. */
const INTERVAL_MS = 10_000;
/** Stays in progress until the test finishes it. */
const BUILDING: ScriptPart = { ends: 'never', words: ['building'] };

const latest = (siteId: string) => `/v1/sites/${siteId}/deployments/latest`;

const deploy = ({ start, result }: VirtualStack, siteId: string, more: DeployOptions = {}): Promise<RunResult> =>
  result(start({ siteIds: [siteId], deploy: more }));

/** What `latest` answers up to the third read of the wait, and to the two reads before the trigger. */
const lagging = (siteId: string, status: string): Fault => ({
  route: 'latest',
  target: siteId,
  times: 2 + 3,
  answer: { kind: 'body', code: 200, type: 'application/json', text: JSON.stringify({ status }) },
});

const DIRECTIONS = [
  ['completed', 'failed'],
  ['failed', 'completed'],
] as const;
const SLOW = { lagMs: 3 * INTERVAL_MS + 100 };
const ended = (ends: string): ScriptPart => ({ durationMs: 0, ends });

/** A test that deploys one site, made with these deployments before and after the trigger. */
const verdictOf = (old: ScriptPart | null, next: ScriptPart, expected: string, late?: string) =>
  inVirtualTime(async (stack) => {
    const siteId = siteAfter(stack.sandbox, old, next);
    if (late !== undefined) stack.sandbox.fault(lagging(siteId, late));
    assert.equal(verdictLine(await deploy(stack, siteId)), expected);
  });

describe('evidence of our deployment', () => {
  test(
    'says of a first deployment whose tries end before the settle time that its status has not lasted',
    inVirtualTime(async (stack) => {
      const siteId = siteAfter(stack.sandbox, null, COMPLETED);
      const { outcome, error } = await deploy(stack, siteId, { intervalMs: 1_000, tries: 2, settleMs: 3_600_000 });
      assert.equal(outcome, 'unknown');
      const why =
        /there was no deployment before, and the final status has not lasted for the settle time after 2 tries/;
      assert.match(error?.message ?? '', why);
    }),
  );

  for (const [old, now] of DIRECTIONS) {
    test(
      `reports ${now} by the change from a deployment that ended ${old}`,
      verdictOf(ended(old), ended(now), `${now} by changed`),
    );

    test(
      `waits for a change from ${old} to ${now} that latest shows three reads late`,
      verdictOf(ended(old), ended(now), `${now} by changed`, old),
    );

    test(
      `waits for a change from ${old} to ${now} that the service shows late`,
      verdictOf(ended(old), { ...ended(now), ...SLOW }, `${now} by changed`),
    );

    test(
      `reports the first deployment of a site, which ends ${now}, as ours`,
      verdictOf(null, ended(now), `${now} by changed`),
    );

    test(
      `waits for the first deployment of a site, shown late, which ends ${now}`,
      verdictOf(null, { ...ended(now), ...SLOW }, `${now} by changed`),
    );

    test(
      `waits for a foreign deployment that ends ${old}, then reports ours as ${now}`,
      inVirtualTime(async ({ sandbox, start, result, until }) => {
        const siteId = siteAfter(sandbox, BUILDING, ended(old), ended(now));
        const run = start({ siteIds: [siteId] });
        await until('the wait for the foreign deployment', () => reads(sandbox, latest(siteId)).length > 3);
        assert.equal(posts(sandbox, `/v1/sites/${siteId}/deploy`).length, 0);
        sandbox.act({ site: siteId });
        assert.equal(verdictLine(await result(run)), `${now} by changed`);
        assert.equal(began(sandbox, 'deployment', siteId).length, 1);
      }),
    );

    test(
      `reports ${now} after ${now} by the transition if ours was seen in progress`,
      inVirtualTime(async ({ sandbox, start, result, until }) => {
        const siteId = siteAfter(sandbox, ended(now), BUILDING, ended(now));
        const run = start({ siteIds: [siteId] });
        await until('a read in progress', () => reads(sandbox, latest(siteId)).at(-1)?.said === 'building');
        sandbox.act({ site: siteId });
        assert.equal(verdictLine(await result(run)), `${now} by transition`);
      }),
    );

    test(
      `reports ${now} after ${now} as settled after the minimum settle time if ours was never seen in progress`,
      inVirtualTime(async (stack) => {
        const siteId = siteAfter(stack.sandbox, ended(now), ended(now));
        const result = await deploy(stack, siteId, { intervalMs: 500, tries: 60 });
        assert.equal(verdictLine(result), `${now} by settled`);
        const [{ acceptedAt, endedAt } = { acceptedAt: null, endedAt: null }] = result.deployments;
        const settledMs = Date.parse(endedAt ?? '') - Date.parse(acceptedAt ?? '');
        const { minSettleMs } = TIMING.verdict;
        assert.ok(settledMs >= minSettleMs && settledMs < minSettleMs + 1_000, `${settledMs} ms`);
      }),
    );
  }

  test(
    'reports completed after completed as unknown if the tries end before the settle time',
    inVirtualTime(async (stack) => {
      const siteId = siteAfter(stack.sandbox, COMPLETED, COMPLETED);
      assert.equal(verdictLine(await deploy(stack, siteId, { tries: 5 })), 'unknown by OutcomeUnknown');
    }),
  );

  test(
    'a deployment whose POST lost its answer is found by its trace although latest lags by three reads',
    inVirtualTime(async (stack) => {
      const { sandbox } = stack;
      const siteId = siteAfter(sandbox, FAILED, COMPLETED);
      sandbox.fault(
        { route: 'deploy', target: siteId, effect: true, answer: { kind: 'reset' } },
        lagging(siteId, 'failed'),
      );
      const result = await deploy(stack, siteId);
      assert.equal(result.outcome, 'completed');
      assert.deepEqual(result.deployments[0]?.trigger, { attempts: 1, ambiguous: true, reconciledBy: 'changed' });
      assert.equal(began(sandbox, 'deployment', siteId).length, 1);
    }),
  );

  describe('while the answer to the POST is outstanding', () => {
    const BRIEF = { intervalMs: 2_500, tries: 20 };
    /** The reads after the request, in their order. The service has answered by the fifth. */
    const shown = (siteId: string, words: string[]): Fault[] =>
      words.map((status) => ({ ...lagging(siteId, status), skip: 2, times: 1 }));

    const judged = (words: string[], post: Pick<Fault, 'answer' | 'effect'>, expected: string) =>
      inVirtualTime(async (stack) => {
        const { sandbox } = stack;
        const siteId = siteAfter(sandbox, COMPLETED, COMPLETED);
        sandbox.fault({ route: 'deploy', target: siteId, delayMs: 7_000, ...post }, ...shown(siteId, words));
        const result = await deploy(stack, siteId, BRIEF);
        assert.equal(verdictLine(result), expected);
        assert.equal(posts(sandbox, `/v1/sites/${siteId}/deploy`).length, 1);
        const isVerdict = ['completed', 'failed'].includes(result.outcome!);
        if (isVerdict) assert.equal(result.deployments[0]?.lastStatus, result.outcome);
      });

    const LATE = { answer: { kind: 'true' } } as const;
    const LOST = { answer: { kind: 'reset' }, effect: false } as const;
    const TAKEN_BACK = ['failed', 'completed', 'completed'];

    test('a change that a later read takes back is no verdict', judged(TAKEN_BACK, LATE, 'completed by settled'));

    test(
      'a change that a later read takes back is no trace of a request in doubt, and forbids another',
      judged(TAKEN_BACK, LOST, 'unknown by OutcomeUnknown'),
    );

    test(
      'a change that a later read takes back is no trace of a request in doubt, also if it is shown again',
      judged([...TAKEN_BACK, 'failed', 'completed'], LOST, 'unknown by OutcomeUnknown'),
    );

    test('a change that lasts is the verdict', judged(['completed', 'failed', 'failed'], LATE, 'failed by changed'));

    for (const [how, post] of [
      ['late', LATE],
      ['lost', LOST],
    ] as const)
      test(
        `the end of what was seen in progress stays the verdict, whatever follows, if the answer is ${how}`,
        judged(['building', 'failed', 'completed'], post, 'failed by transition'),
      );
  });

  test(
    'a push in the place of a request that was lost is taken for its trace',
    inVirtualTime(async (stack) => {
      const { sandbox, start, result, until } = stack;
      const siteId = siteAfter(sandbox, COMPLETED, FAILED);
      sandbox.fault({ route: 'deploy', target: siteId, effect: false, answer: { kind: 'reset' } });
      const run = start({ siteIds: [siteId], deploy: { intervalMs: INTERVAL_MS, tries: 30 } });
      await until('the request', () => posts(sandbox, `/v1/sites/${siteId}/deploy`).length === 1);
      sandbox.act({ site: siteId });
      assert.equal(verdictLine(await result(run)), 'failed by changed');
      assert.equal(posts(sandbox, `/v1/sites/${siteId}/deploy`).length, 1);
    }),
  );

  test(
    'a deployment that stays in progress times out after exactly its tries, with the last status',
    inVirtualTime(async (stack) => {
      const siteId = siteAfter(stack.sandbox, COMPLETED, { ends: 'never', words: ['cancelled'] });
      const result = await deploy(stack, siteId, { tries: 3 });
      assert.equal(result.outcome, 'timed_out');
      assert.equal(result.error?.type, 'DeploymentTimedOut');
      assert.match(result.error?.message ?? '', /after 3 tries, last status "cancelled"/);
      // The baseline, the early reads and the tries.
      assert.equal(result.deployments[0]?.polls, 1 + TIMING.poll.earlyReadsMs.length + 3);
    }),
  );

  test(
    'a foreign deployment that does not end in time ends the run Busy, with status and remedy, before any trigger',
    inVirtualTime(async (stack) => {
      const siteId = siteAfter(stack.sandbox, { ends: 'never', words: ['cancelled'] }, COMPLETED);
      const result = await deploy(stack, siteId, { baselineWaitMs: 1_000 });
      assert.equal(verdictLine(result), 'not_started by Busy');
      assert.match(result.error?.message ?? '', /"cancelled".*map the status/);
      assert.equal(posts(stack.sandbox, `/v1/sites/${siteId}/deploy`).length, 0);
    }),
  );

  test(
    'a foreign deployment that may last a day is read more seldom, so that it fills no history',
    inVirtualTime(async (stack) => {
      const { sandbox, start, result, forward } = stack;
      const baselineWaitMs = 24 * 60 * 60_000;
      const siteId = siteAfter(sandbox, BUILDING, COMPLETED);
      const run = start({ siteIds: [siteId], deploy: { intervalMs: INTERVAL_MS, baselineWaitMs } });
      await forward(60 * 60_000);
      const most = (60 * 60_000 * HISTORY_BUDGET.maxBusyReads) / baselineWaitMs;
      assert.ok(reads(sandbox, latest(siteId)).length <= most + 5);
      sandbox.finish({ site: siteId }, 'completed');
      assert.equal(verdictLine(await result(run)), 'completed by settled');
    }),
  );

  test(
    'a status that differs only in case and blanks settles instead of counting as a change',
    verdictOf(COMPLETED, ended(' COMPLETED '), 'completed by settled'),
  );

  for (const word of ['COMPLETED', ' Completed\n', 'FAILED']) {
    const now = word.trim().toLowerCase();
    test(
      `the final status ${JSON.stringify(word)} counts as ${now}`,
      verdictOf(null, ended(word), `${now} by changed`),
    );
  }
});
