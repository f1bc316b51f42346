/** Starts an execution that has closed once more. */
import { defaultPayloadConverter as payloads } from '@temporalio/common';
import type { Run } from '../temporal/types.ts';
import { startInput } from './inspect.ts';
import type { VirtualStack } from './stack.ts';

/** Under its id, and with its input. */
export function startAgain({ world: { server } }: VirtualStack, before: Run): Run {
  const { workflowId, type, memo, taskTimeoutMs } = before;
  const input = [payloads.toPayload(startInput(before))];
  return server.start({ workflowId, type, input, memo, taskTimeoutMs });
}

/** As a reset to its first task does, which keeps when it started, and which run it was first. */
export function resetToBeginning(stack: VirtualStack, before: Run): Run {
  const { firstRunId, startedMs } = before;
  return Object.assign(startAgain(stack, before), { firstRunId, startedMs });
}
