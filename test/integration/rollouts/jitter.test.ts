import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { defaultPayloadConverter } from '@temporalio/common';
import type { DeploySiteInput } from '../../../src/contract/operation.ts';
import { backupServerId } from '../../../src/contract/ids.ts';
import { apply, nightly, settled } from '../../support/schedules.ts';
import { sharedStack } from '../../support/shared-stack.ts';
import type { TestStack } from '../../support/world.ts';

let world: TestStack;
before(async () => {
  world = await sharedStack();
});

/** @param lockId of the operation */
async function jitterOf(lockId: string): Promise<number | undefined> {
  const { events } = await world.client.workflow.getHandle(lockId).fetchHistory();
  const payload = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0];
  return defaultPayloadConverter.fromPayload<DeploySiteInput>(payload!).jitter;
}

async function assertDrawn(lockIds: string[]): Promise<void> {
  const jitters = await Promise.all(lockIds.map(jitterOf));
  assert.ok(
    jitters.every((it) => it !== undefined && it > 0 && it <= 0.2),
    jitters.join(),
  );
  assert.equal(new Set(jitters).size, lockIds.length);
}

test('the runs of schedules delay their tries, each by its own part of the interval', async () => {
  const nights = Array.from({ length: 3 }, () => nightly(world));
  for (const { id, file } of nights) {
    await apply(world, file());
    await world.belay.schedules.trigger(id);
  }
  for (const { handle } of nights) {
    const [fired] = await settled(world, handle, 1);
    assert.equal(fired?.result.outcome, 'completed');
  }
  await assertDrawn(nights.map(({ serverId }) => backupServerId(serverId)));
});
