/** Starts a run as a starter does, with what a starter learns of the workers. */
import { defaultPayloadConverter as payloads, mapToPayloads } from '@temporalio/common';
import { BelayError } from '../../../src/contract/errors.ts';
import type { RunType } from '../../../src/contract/names.ts';
import type { RunInput } from '../../../src/contract/run.ts';
import { runWorkflowId } from '../../../src/contract/ids.ts';
import { attributePairs, attributesOfRun } from '../../../src/request/search-attributes.ts';
import { runStartOptions } from '../../../src/request/start-options.ts';
import { startProblem, typeOf } from '../../../src/request/input/start-request.ts';
import { attributePayloads } from '../core/sdk.ts';
import type { Run, Server, StartRequest } from '../temporal/types.ts';
import { SERVICE_URL } from '../world.ts';

/** @throws BelayError of type `Usage` */
export function startRun(server: Server, asked: RunInput, key: string, type: RunType = typeOf(asked)): Run {
  const problem = startProblem(type, asked, key);
  if (problem !== null) throw new BelayError('Usage', problem);
  const run = server.startOnce(startRequest(type, { service: SERVICE_URL, epoch: '1', ...asked }, key));
  if (run === null) throw new Error(`the key ${key} is in use`);
  return run;
}

/** What a starter sends to Temporal. */
export function startRequest(type: RunType, input: RunInput, key: string): StartRequest {
  const workflowId = runWorkflowId(type, input, key);
  const { memo, workflowTaskTimeout } = runStartOptions(input, { type, startedBy: 'the simulator' });
  return {
    ...{ workflowId, type, input: [payloads.toPayload(input)] },
    memo: mapToPayloads<string>(payloads, { ...memo }),
    attributes: attributePayloads(attributePairs(attributesOfRun(input))),
    taskTimeoutMs: workflowTaskTimeout,
  };
}
