/** Starts and steers a rollout in virtual time, as the client of the starter does. */
import assert from 'node:assert/strict';
import { defaultPayloadConverter as payloads, mapToPayloads } from '@temporalio/common';
import { BelayError } from '../../../src/contract/errors.ts';
import { QUERIES, ROLLOUT_TYPE, type ROLLOUT_UPDATES } from '../../../src/contract/names.ts';
import type {
  DecisionInput,
  RolloutInput,
  RolloutProgress,
  RolloutResult,
} from '../../../src/features/rollouts/shapes.ts';
import { rolloutId } from '../../../src/contract/ids.ts';
import { rolloutStartOptions } from '../../../src/request/rollout-start-options.ts';
import { validateRolloutInput } from '../../../src/request/input/rollout-input.ts';
import type { VirtualStack } from '../stack/stack.ts';
import type { Run, Server, Update } from '../temporal/types.ts';
import { SERVICE_URL } from '../world.ts';

/** @throws BelayError of type `Usage` */
export function startRollout(server: Server, asked: RolloutInput): Run {
  const problem = validateRolloutInput(asked);
  if (problem !== null) throw new BelayError('Usage', problem);
  const input = { service: SERVICE_URL, epoch: '1', ...asked };
  const workflowId = rolloutId(input.name, input.key);
  const { memo, workflowTaskTimeout } = rolloutStartOptions(input, { startedBy: 'the simulator' });
  const request = {
    ...{ workflowId, type: ROLLOUT_TYPE, input: [payloads.toPayload(input)] },
    memo: mapToPayloads<string>(payloads, { ...memo }),
    taskTimeoutMs: workflowTaskTimeout,
  };
  // A retry has the id of the attempt before.
  const run = (input.attempt ?? 1) > 1 ? server.start(request) : server.startOnce(request);
  if (run === null) throw new Error(`the key ${input.key} is in use`);
  return run;
}

/** Lets time pass until the rollout has closed. @returns its result, whatever its outcome */
export const endOfRollout = ({ result }: VirtualStack, run: Run): Promise<RolloutResult> => result<RolloutResult>(run);

export const progressOf = ({ query }: VirtualStack, { workflowId }: Run): Promise<RolloutProgress> =>
  query<RolloutProgress>(workflowId, QUERIES.progress);

export type DecisionName = keyof typeof ROLLOUT_UPDATES;

/** Sends a decision about a rollout, which may be malformed. */
export const requestUpdate = (server: Server, run: Run, name: DecisionName, decision: unknown): Update =>
  server.update(run, name, [payloads.toPayload(decision)]);

/** Lets time pass until the rollout has answered. @returns type and message of its refusal; null if it accepts */
export async function refusalOf(
  { world, until }: VirtualStack,
  run: Run,
  name: DecisionName,
  decision: unknown,
): Promise<string | null> {
  const update = requestUpdate(world.server, run, name, decision);
  const outcome = await until(`the answer to ${name}`, () => update.outcome);
  if (outcome === 'absent') return 'it has ended';
  if ('result' in outcome) return null;
  const { message, applicationFailureInfo: info } = outcome.failure;
  return `${info?.type}: ${message}`;
}

/** Lets time pass until the rollout has accepted the decision. */
export async function decide(stack: VirtualStack, run: Run, name: DecisionName, by: DecisionInput): Promise<void> {
  assert.equal(await refusalOf(stack, run, name, by), null);
}
