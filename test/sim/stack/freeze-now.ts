/** Sets an ad-hoc freeze as `belay freeze` does. */
import assert from 'node:assert/strict';
import { defaultPayloadConverter as payloads, mapToPayloads } from '@temporalio/common';
import { freezeId } from '../../../src/contract/ids/workflow-ids.ts';
import { FREEZE_TYPE } from '../../../src/contract/names.ts';
import { planFreeze, type NewFreeze } from '../../../src/request/plan-freeze.ts';
import { freezeStartOptions } from '../../../src/request/start/freeze-details.ts';
import type { Run, Server } from '../temporal/types.ts';

const WHY = { reason: 'disks', by: 'ana' };

/** @returns its workflow */
export function freezeNow(server: Server, asked: Partial<NewFreeze> = {}): Run {
  const freeze = planFreeze({ ...WHY, forMs: 3_600_000, ...asked }, server.nowMs());
  assert.ok(typeof freeze !== 'string');
  const { memo, workflowTaskTimeout } = freezeStartOptions(freeze);
  return server.start({
    ...{ workflowId: freezeId(freeze.scope), type: FREEZE_TYPE, taskTimeoutMs: workflowTaskTimeout },
    input: [payloads.toPayload(freeze)],
    memo: mapToPayloads<string>(payloads, memo),
  });
}
