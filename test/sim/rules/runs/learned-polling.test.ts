/** `--polling learned`: reads where past durations of the same target suggest an end. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RunInput } from '../../../../src/contract/run.ts';
import { fresh } from '../../../support/fresh.ts';
import { began, reads } from '../../../support/journal.ts';
import { eventsOf } from '../../stack/inspect.ts';
import { inVirtualTime, type VirtualStack } from '../../stack/stack.ts';

const TOOK_MS = 63_000;
const BUILDS = { durationMs: TOOK_MS, words: ['building'] };
const LEARNED = { polling: 'learned' } as const;

/** Runs that deploy one site after another. @returns when their last deployment ended and was read, and its reads */
async function deployTimes(stack: VirtualStack, siteId: string, times: number, input: RunInput = {}) {
  for (let time = 0; time < times; time += 1) await stack.result(stack.start({ siteIds: [siteId], ...input }));
  const latest = stack.world.server.find(`deploy-site:${siteId}`)!;
  const { acceptedAt, endedAt } = await stack.result<{ acceptedAt: string; endedAt: string }>(latest);
  const acceptedMs = Date.parse(acceptedAt);
  const afterMs = reads(stack.sandbox, `/v1/sites/${siteId}/deployments/latest`)
    .map(({ at }) => Date.parse(at) - acceptedMs)
    .filter((ms) => ms > 0);
  return { delayMs: Date.parse(endedAt) - acceptedMs - TOOK_MS, afterMs };
}

describe('learned polling', () => {
  test(
    'reports a steady deployment with at most a quarter of the delay, and with no more reads',
    inVirtualTime(async (stack) => {
      const siteId = fresh('a');
      stack.sandbox.script({ site: siteId }, BUILDS);
      const fixed = await deployTimes(stack, siteId, 3);
      const learned = await deployTimes(stack, siteId, 2, LEARNED);
      assert.ok(fixed.delayMs > 6_000, `${fixed.delayMs}`);
      assert.ok(learned.delayMs < fixed.delayMs / 4, `${learned.delayMs}`);
      assert.ok(learned.afterMs.length <= fixed.afterMs.length, learned.afterMs.join());
      // The early reads stay.
      assert.deepEqual(
        learned.afterMs.slice(0, 2).map((ms) => Math.round(ms / 1_000)),
        [1, 3],
      );
    }),
  );

  test(
    'learns how long a backup takes, and from failures, too',
    inVirtualTime(async (stack) => {
      const serverId = fresh('s');
      stack.sandbox.script({ server: serverId }, { ...BUILDS, ends: 'failed' });
      const delays: number[] = [];
      for (const input of [{}, {}, {}, LEARNED]) {
        const { backup } = await stack.result(stack.start({ serverId, siteIds: [], ...input }));
        delays.push(Date.parse(backup!.endedAt!) - Date.parse(backup!.acceptedAt!) - TOOK_MS);
      }
      assert.ok(delays.at(-1)! < delays[0]! / 3, delays.join());
    }),
  );

  test(
    'reads at each interval as long as fewer than three durations are known',
    inVirtualTime(async (stack) => {
      const siteId = fresh('a');
      stack.sandbox.script({ site: siteId }, BUILDS);
      await deployTimes(stack, siteId, 2);
      const { afterMs } = await deployTimes(stack, siteId, 1, LEARNED);
      assert.deepEqual(
        afterMs.slice(-7).map((ms) => Math.round(ms / 1_000)),
        [10, 20, 30, 40, 50, 60, 70],
      );
    }),
  );

  test(
    'makes as many tries as without it, and the last one at the same time',
    inVirtualTime(async (stack) => {
      const siteId = fresh('a');
      stack.sandbox.script({ site: siteId }, BUILDS, BUILDS, BUILDS, { ...BUILDS, ends: 'never' });
      await deployTimes(stack, siteId, 3);
      const run = stack.start({ siteIds: [siteId], deploy: { tries: 20 }, waits: 'loop', ...LEARNED });
      const { outcome, deployments } = await stack.result(run);
      assert.equal(outcome, 'timed_out');
      const { acceptedAt, endedAt } = deployments[0]!;
      assert.equal(Math.round((Date.parse(endedAt!) - Date.parse(acceptedAt!)) / 1_000), 200);
      assert.equal(began(stack.sandbox, 'deployment', siteId).length, 4);
      const tries = eventsOf(stack.world.server.find(`deploy-site:${siteId}`)!, 'localActivity')
        .map(({ summary }) => Buffer.from(summary?.data ?? []).toString())
        .filter((text) => /read \d+ of 20/.test(text) && !text.includes('early'));
      assert.match(tries.at(-1)!, /read 20 of 20/);
    }),
  );

  test(
    'asks for no past durations unless it is chosen',
    inVirtualTime(async (stack) => {
      const siteId = fresh('a');
      const run = stack.start({ siteIds: [siteId] });
      await stack.result(run);
      const operation = stack.world.server.find(`deploy-site:${siteId}`)!;
      assert.ok(eventsOf(operation, 'localActivity').every(({ type }) => type !== 'learnReads'));
    }),
  );
});
