/** What a run has read before the request that counts is not ours, whenever it has read it. Replicas lag in all of these. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RunInput } from '../../../../src/contract/run.ts';
import type { Fault } from '../../../../src/sandbox/faults.ts';
import { fresh } from '../../../support/fresh.ts';
import { verdictLine } from '../../../support/verdict-line.ts';
import { freezeNow } from '../../stack/freeze-now.ts';
import { inVirtualTime, type VirtualStack } from '../../stack/stack.ts';
import { deployPosts } from '../runs/runs-that-wait.ts';

const HOUR_MS = 3_600_000;
const DEPLOY = { intervalMs: 2_000, tries: 30 };
/** The replica that lags; a push from before the request; and ours. */
const [OLD, PUSH, OURS] = [is('completed', 1), is('failed', 2), [is('running', 3), is('completed', 3)]];

function is(status: string, id: number) {
  return { status, id };
}

const body = (it: object) => ({ kind: 'body', code: 200, type: 'application/json', text: JSON.stringify(it) }) as const;

/** The service answers one after another, and the last one to all others. */
function latestAre({ sandbox }: VirtualStack, target: string, answers: object[]): void {
  const faults = answers.map((it): Fault => ({ route: 'latest', target, answer: body(it) }));
  sandbox.fault(...faults.slice(0, -1), { ...faults.at(-1)!, times: 9_999 });
}

const accepted = (target: string, answer: object = {}): Fault => ({
  ...({ route: 'deploy', target, effect: true } as const),
  answer: body(answer),
});
const lost = (target: string): Fault => ({ route: 'deploy', target, effect: false, answer: { kind: 'reset' } });
const refused = (target: string, code: number, retryAfter = '1'): Fault => ({
  ...({ route: 'deploy', target, effect: false } as const),
  answer: { kind: 'status', code, retryAfter },
  // Reads go on beside it.
  delayMs: code === 503 ? 0 : 4_000,
});

async function deploy(stack: VirtualStack, reads: object[], posts: (siteId: string) => Fault[], input: RunInput = {}) {
  const siteId = fresh('a');
  latestAre(stack, siteId, reads);
  stack.sandbox.fault(...posts(siteId));
  const result = await stack.result(stack.start({ siteIds: [siteId], deploy: DEPLOY, ...input }));
  return { result, sent: deployPosts(stack, siteId) };
}

/** A freeze begins while the backup is made, and ends an operation that has read the baseline. */
async function deployAfterFreeze(stack: VirtualStack, reads: object[], post: (siteId: string) => Fault) {
  const [serverId, siteId] = [fresh('s'), fresh('a')];
  stack.sandbox.script({ server: serverId }, { durationMs: 60_000 });
  latestAre(stack, siteId, reads);
  stack.sandbox.fault(post(siteId));
  const run = stack.start({ serverId, siteIds: [siteId], ifFrozen: 'wait', deploy: DEPLOY });
  await stack.forward(30_000);
  freezeNow(stack.world.server, { forMs: HOUR_MS });
  return { result: await stack.result(run), sent: deployPosts(stack, siteId) };
}

describe('an id from before the request', () => {
  test(
    'is not ours if a freeze came between the operation that read it and the next one',
    inVirtualTime(async (stack) => {
      const reads = [OLD, PUSH, OLD, PUSH, PUSH, ...OURS];
      const { result } = await deployAfterFreeze(stack, reads, (it) => accepted(it));
      assert.equal(verdictLine(result), 'completed by transition');
    }),
  );

  test(
    'is no trace of a lost request if a freeze came between, and no field of the result',
    inVirtualTime(async (stack) => {
      const { result, sent } = await deployAfterFreeze(stack, [OLD, PUSH, OLD, PUSH], lost);
      assert.deepEqual([result.outcome, sent], ['unknown', 2]);
      assert.ok(!('readAnswers' in result.deployments[0]!));
    }),
  );

  for (const code of [409, 423, 429]) {
    test(
      `is not ours if it was read beside a request that was answered ${code}`,
      inVirtualTime(async (stack) => {
        const reads = [OLD, OLD, PUSH, PUSH, PUSH, OLD, PUSH, PUSH, ...OURS];
        const { result, sent } = await deploy(stack, reads, (it) => [refused(it, code), accepted(it)]);
        assert.deepEqual([verdictLine(result), sent], ['completed by transition', 2]);
      }),
    );
  }

  for (const code of [401, 403]) {
    test(
      `is no trace of a lost request if it was read beside one that was answered ${code}`,
      inVirtualTime(async (stack) => {
        const reads = [OLD, OLD, PUSH, PUSH, PUSH, OLD, PUSH];
        const { result } = await deploy(stack, reads, (it) => [refused(it, code), lost(it)]);
        // It is sent again, and nothing new is shown.
        assert.deepEqual([result.outcome, result.deployments[0]?.trigger.reconciledBy], ['unknown', 'resent']);
      }),
    );
  }

  test(
    'is not ours if the read that ended an outage has shown it',
    inVirtualTime(async (stack) => {
      const reads = [OLD, OLD, PUSH, OLD, PUSH, PUSH, ...OURS];
      const posts = (it: string) => [refused(it, 503, '600'), accepted(it)];
      const { result } = await deploy(stack, reads, posts, { outageBudgetMs: HOUR_MS });
      assert.equal(verdictLine(result), 'completed by transition');
    }),
  );

  test(
    'ends no wait in the word in which the run has read it, although the baseline had another word and no id',
    inVirtualTime(async (stack) => {
      const lagging = Array.from({ length: 12 }, () => OLD);
      const reads = [OLD, { status: 'failed' }, ...lagging, is('running', 3), is('failed', 3)];
      const { result } = await deploy(stack, reads, (it) => [accepted(it)]);
      assert.equal(verdictLine(result), 'failed by transition');
    }),
  );

  test(
    'counts in the word that the run has read last, and not in the one of its admission',
    inVirtualTime(async (stack) => {
      const [withoutId, lagging] = [{ status: 'failed' }, Array.from({ length: 12 }, () => OLD)];
      const before = [is('running', 1), withoutId, OLD, OLD, OLD, withoutId];
      const reads = [...before, ...lagging, is('running', 3), is('failed', 3)];
      const { result } = await deploy(stack, reads, (it) => [refused(it, 409), accepted(it)]);
      assert.equal(verdictLine(result), 'failed by transition');
    }),
  );

  for (const [what, answered, now, verdict] of [
    ['ours fails', {}, [is('running', 3), is('failed', 3)], 'failed by transition'],
    ['ours fails under the id of the request', { id: 3 }, [is('running', 3), is('failed', 3)], 'failed by identity'],
    ['nothing is ever shown of ours', {}, [], 'unknown by OutcomeUnknown'],
  ] as const)
    test(
      `does not end a wait with the end of a deployment that was in progress before, if ${what}`,
      inVirtualTime(async (stack) => {
        const lagging = Array.from({ length: 12 }, () => is('completed', 1));
        const reads = [is('running', 1), { status: 'completed' }, ...lagging, ...now];
        const { result } = await deploy(stack, reads, (it) => [accepted(it, answered)]);
        assert.equal(verdictLine(result), verdict);
      }),
    );

  test(
    'counts in the word that the run has read last, although another field appeared beside it',
    inVirtualTime(async (stack) => {
      const [withoutId, lagging] = [{ status: 'failed' }, Array.from({ length: 12 }, () => OLD)];
      const beside = Array.from({ length: 3 }, () => ({ ...OLD, uuid: 'a' }));
      const reads = [is('running', 1), withoutId, ...beside, withoutId, ...lagging, is('running', 3), is('failed', 3)];
      const { result } = await deploy(stack, reads, (it) => [refused(it, 409), accepted(it)]);
      assert.equal(verdictLine(result), 'failed by transition');
    }),
  );
});
