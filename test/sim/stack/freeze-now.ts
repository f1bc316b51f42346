/** Sets and ends ad-hoc freezes as `belay freeze` and `belay thaw` do. */
import assert from 'node:assert/strict';
import { ApplicationFailure, defaultPayloadConverter as payloads, mapToPayloads } from '@temporalio/common';
import { freezeId } from '../../../src/contract/ids.ts';
import { FREEZE_TYPE } from '../../../src/contract/names.ts';
import { planFreeze, type NewFreeze } from '../../../src/features/freezes/request.ts';
import { freezeStartOptions, wakeFrozen } from '../../../src/features/freezes/client.ts';
import type { FreezeScope } from '../../../src/features/freezes/shapes.ts';
import { createModelClient } from '../temporal/client.ts';
import type { Run, Server } from '../temporal/types.ts';

const WHY = { reason: 'disks', by: 'ana' };

/** Ends one as `belay thaw` does. @returns the workflow ids of what was woken */
export function thawNow(server: Server, scope: FreezeScope = { kind: 'all' }): Promise<string[]> {
  server.terminate(server.find(freezeId(scope))!);
  return wakeFrozen(createModelClient(server, (question) => Promise.resolve(question())));
}

/** @param replaces whether it extends one. @returns its workflow */
export function freezeNow(server: Server, asked: Partial<NewFreeze> = {}, replaces = false): Run {
  const freeze = planFreeze({ ...WHY, forMs: 3_600_000, ...asked }, server.nowMs());
  assert.ok(typeof freeze !== 'string');
  const { memo, workflowTaskTimeout } = freezeStartOptions(freeze);
  return server.start({
    ...{ workflowId: freezeId(freeze.scope), type: FREEZE_TYPE, taskTimeoutMs: workflowTaskTimeout },
    input: [payloads.toPayload(freeze), payloads.toPayload(replaces)],
    memo: mapToPayloads<string>(payloads, memo),
  });
}

/** What a run or rollout asks for with these names. */
export const overriding = (...freezes: string[]) => ({ override: { freezes, reason: 'CVE', by: 'ana' } });

/** As if it was encrypted with a key that no worker has. */
export function unreadable(freeze: Run): void {
  Object.defineProperty(freeze, 'memo', {
    get() {
      throw ApplicationFailure.create({ message: 'no key of this worker fits' });
    },
  });
}
