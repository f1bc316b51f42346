/** What the steps of one deployment share. */
import type { DeploymentResult } from '../../contract/run.ts';
import { type Operation } from './run-operation.ts';
import type { Reader } from '../polling/status-reader.ts';
import type { Followed } from './await-verdict.ts';
import type { Check } from './hooks.ts';
import { jitterMs } from '../../rules/jitter.ts';
import type { DeploySiteInput } from '../../contract/operation.ts';

export interface Deployment {
  operation: Operation<DeploymentResult>;
  input: DeploySiteInput;
  reader: Reader;
  check: Check | undefined;
}

export function followed({ operation, input, reader, check }: Deployment): Followed {
  const { intervalMs, tries, jitter } = input;
  return {
    poller: operation,
    result: operation.result,
    reader,
    intervalMs,
    tries,
    jitterMs: jitterMs(intervalMs, jitter),
    check,
  };
}
