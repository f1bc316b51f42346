/** A rollout takes the results that earlier attempts stored. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultPayloadConverter as payloads } from '@temporalio/common';
import type { RolloutInput, RolloutResult } from '../../src/features/rollouts/shapes.ts';
import { ROLLOUT_TYPE } from '../../src/contract/names.ts';
import { validateRolloutInput } from '../../src/request/input/rollout-input.ts';
import { readHistories } from '../histories/kept.ts';

test('a retry is accepted with the results of every recorded rollout, and with fields of later versions', () => {
  let servers = 0;
  for (const { name, history } of readHistories().filter(({ type }) => type === ROLLOUT_TYPE)) {
    const [first, last] = [history.events?.at(0), history.events?.at(-1)];
    const given = first?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0];
    const ended =
      last?.workflowExecutionCompletedEventAttributes?.result ??
      last?.workflowExecutionFailedEventAttributes?.failure?.applicationFailureInfo?.details;
    const result = ended?.payloads?.[0];
    if (!given || !result) continue;
    const { targets } = payloads.fromPayload<RolloutResult>(result);
    const previousResults = targets
      .filter(({ outcome }) => outcome === 'completed')
      .map((it) => ({ ...it, later: { version: 1 } }));
    servers += previousResults.length;
    const input = { ...payloads.fromPayload<RolloutInput>(given), attempt: 2, previousResults };
    assert.equal(validateRolloutInput(input), null, name);
  }
  assert.ok(servers > 20, `${servers}`);
});
