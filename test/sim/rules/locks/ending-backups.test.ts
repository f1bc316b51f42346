/** Runs that are replaced or cancelled in the moments in which their backup ends. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { QUERIES, SIGNALS } from '../../../../src/contract/names.ts';
import type { RunProgress } from '../../../../src/contract/run.ts';
import { fresh } from '../../../support/fresh.ts';
import { inVirtualTime, type VirtualStack } from '../../stack/stack.ts';
import { held } from './held-locks.ts';
import { newerThan } from './superseded.ts';

/** How many events the end of a backup has, from its last read on. */
const LAST_EVENTS = 8;

type Bad = 'failed' | 'timed_out';

/** A run whose backup ends soon. */
async function withEndingBackup(stack: VirtualStack, outcome: Bad) {
  const siteIds = [fresh('a')];
  const { holder, id, lockId, finish } = await held(stack, 'backup', [], {
    ...{ siteIds, backup: { intervalMs: 1_000, tries: 5 } },
  });
  const operation = stack.world.server.find(lockId)!;
  const { service } = (await stack.query<RunProgress>(holder.workflowId, QUERIES.progress)).result;
  if (outcome === 'failed') finish('failed');
  return { run: holder, operation, newer: newerThan(holder, { service, serverId: id, siteIds }) };
}

async function eventsOfBackup(stack: VirtualStack, outcome: Bad): Promise<number> {
  const { run, operation } = await withEndingBackup(stack, outcome);
  assert.equal((await stack.result(run)).outcome, outcome);
  return operation.history.length;
}

describe('a run that is replaced or cancelled while its backup ends', () => {
  for (const outcome of ['failed', 'timed_out'] as const) {
    test(
      `reports that the backup has ${outcome}, unless it left the backup before`,
      inVirtualTime(async (stack) => {
        const ofBackups = new Set<string | null | undefined>();
        const events = await eventsOfBackup(stack, outcome);
        for (let count = events - LAST_EVENTS; count <= events; count += 2)
          for (const isReplaced of [true, false]) {
            const { run, operation, newer } = await withEndingBackup(stack, outcome);
            await stack.until('the moment', () => operation.history.length >= count);
            if (isReplaced) stack.signal(run.workflowId, SIGNALS.superseded, newer);
            else stack.cancel(run);
            const ended = await stack.result(run);
            ofBackups.add(ended.backup?.outcome);
            const isLeft = ended.backup?.outcome === 'cancelled';
            const left = isReplaced ? 'not_started' : 'cancelled';
            assert.equal(ended.outcome, isLeft ? left : outcome);
            assert.equal(ended.supersededBy !== null, isLeft && isReplaced);
          }
        assert.deepEqual([...ofBackups].sort(), ['cancelled', outcome].sort());
      }),
    );
  }
});
