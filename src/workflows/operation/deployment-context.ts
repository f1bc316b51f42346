/** What the steps of one deployment share. */
import type { DeploymentResult } from '../../contract/run.ts';
import { type Operation } from './run-operation.ts';
import type { Reader } from '../polling/status-reader.ts';
import type { Followed } from './await-verdict.ts';
import type { SiteCheck } from './site-check.ts';
import { jitterMs } from '../../rules/polling/jitter.ts';
import type { DeploySiteInput } from '../../contract/operation.ts';

export interface Deployment {
  operation: Operation<DeploymentResult>;
  input: DeploySiteInput;
  reader: Reader;
  /** When to make the tries after the acceptance; empty for one at each interval. */
  learnedMs: readonly number[];
  check: SiteCheck | undefined;
}

export function followed({ operation, input, reader, learnedMs, check }: Deployment): Followed {
  const { intervalMs, tries, jitter } = input;
  return {
    poller: operation,
    result: operation.result,
    reader,
    intervalMs,
    tries,
    jitterMs: jitterMs(intervalMs, jitter),
    learnedMs,
    check,
  };
}
