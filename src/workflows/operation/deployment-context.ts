/** A deployment in the making: what its steps share. */
import type { DeploymentResult, DeploySiteInput } from '../../contract/run.ts';
import { NO_TRIGGER, type Operation } from './run-operation.ts';
import type { Reader } from '../polling/status-reader.ts';
import type { Followed } from './await-verdict.ts';

export interface Deployment {
  operation: Operation<DeploymentResult>;
  input: DeploySiteInput;
  read: Reader;
}

export function newDeploymentResult(siteId: string): DeploymentResult {
  return {
    siteId,
    outcome: null,
    evidence: null,
    lastStatus: null,
    polls: 0,
    trigger: { ...NO_TRIGGER },
    startedAt: null,
    endedAt: null,
    error: null,
  };
}

export function followed({ operation, input, read }: Deployment): Followed {
  return { watcher: operation, result: operation.result, read, intervalMs: input.intervalMs, tries: input.tries };
}
