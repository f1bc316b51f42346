/** The input that a run gives its operations. */
import { workflowInfo } from '@temporalio/workflow';
import type { BackupServerInput, RecordedService } from '../../../contract/operation.ts';
import { definedFields } from '../../../contract/plain-object.ts';
import { isServed } from '../../../contract/service-identity.ts';
import { conclude, type Conclusion } from '../../common/conclusion.ts';
import { isAfterReset } from '../../common/reset.ts';
import type { RunState } from './run-state.ts';
import { shortWorkOf } from './superseded-run.ts';

export function operationInput(run: RunState, serverId: string): Omit<BackupServerInput, 'waiters'> {
  const { intervalMs, tries } = run.plan.backup;
  // After a wait for a freeze, it is another backup.
  const { count } = run.thaws;
  const step = count === 0 ? 'backup' : `backup-${count + 1}`;
  return { ...sharedInput(run, step), serverId, intervalMs, tries };
}

export function sharedInput(run: RunState, step: string) {
  const { firstExecutionRunId } = workflowInfo();
  return {
    ...serviceOf(run),
    searchAttributes: run.searchAttributes,
    // The first execution's id survives a reset, so a repeated request carries the same key.
    idempotencyKey: `${firstExecutionRunId}:${step}`,
    reset: isAfterReset(),
    ...shortWorkOf(run, run.superseding),
    ...definedFields({
      waits: run.plan.waits,
      fleet: run.input.fleet,
      letOff: run.letOff.length === 0 ? undefined : run.letOff,
    }),
    ifBusy: run.plan.ifBusy,
    outageBudgetMs: run.plan.outageBudgetMs,
    jitter: run.jitter,
  };
}

export function serviceOf({ service }: RunState): RecordedService {
  if (service === null) throw new Error('the service is unknown until the run is admitted');
  return service;
}

/** Ids such as `12` exist at every service. What names no service is from an event, and this run reads it itself. */
export const isForOther = (run: RunState, { service }: { service?: string }): boolean =>
  service !== undefined && !isServed(service, serviceOf(run));

export function refusedForService(service: string, lockId: string): Conclusion {
  const remedy = 'give each service a namespace of its own';
  return conclude('not_started', 'Refused', `the lock ${lockId} is held for another service, ${service}: ${remedy}`);
}
