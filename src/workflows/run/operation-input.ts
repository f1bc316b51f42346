/** The input that a run gives its operations. */
import { workflowInfo } from '@temporalio/workflow';
import type { BackupServerInput, DeploySiteInput } from '../../contract/operation.ts';
import { definedFields } from '../../contract/plain-object.ts';
import { isServed } from '../../contract/service-identity.ts';
import { conclude, type Conclusion } from '../conclusion.ts';
import { isAfterReset } from '../reset.ts';
import type { Part } from './hooks.ts';
import type { RunState } from './run-state.ts';

export function backupInput(run: RunState, serverId: string): Omit<BackupServerInput, 'waiters'> {
  const { intervalMs, tries } = run.plan.backup;
  // After a wait, it is another backup.
  const step = run.backups === 1 ? 'backup' : `backup-${run.backups}`;
  return { ...sharedInput(run, step), ...carried(run, { kind: 'backup', serverId }), serverId, intervalMs, tries };
}

/** What the holds and checks of a run add to the input of its operations. */
export function carried({ holds, checks }: RunState, part: Part): Partial<DeploySiteInput> {
  const ofChecks = part.kind === 'backup' ? [] : checks.map((it) => it.carries(part.target));
  return Object.assign({}, ...holds.map((it) => it.carries?.(part)), ...ofChecks) as Partial<DeploySiteInput>;
}

export function sharedInput(run: RunState, step: string) {
  const { firstExecutionRunId } = workflowInfo();
  return {
    ...run.service,
    searchAttributes: run.facts.searchAttributes,
    // The first execution's id survives a reset, so a repeated request carries the same key.
    idempotencyKey: `${firstExecutionRunId}:${step}`,
    reset: isAfterReset(),
    ...definedFields({ waits: run.plan.waits, fleet: run.input.fleet }),
    ifBusy: run.plan.ifBusy,
    outageBudgetMs: run.plan.outageBudgetMs,
    jitter: run.jitter,
  };
}

/** Ids such as `12` exist at every service. What names no service is from an event, and this run reads it itself. */
export const isForOther = (run: RunState, { service }: { service?: string }): boolean =>
  service !== undefined && !isServed(service, run.service);

export function refusedForService(service: string, lockId: string): Conclusion {
  const remedy = 'give each service a namespace of its own';
  return conclude('not_started', 'Refused', `the lock ${lockId} is held for another service, ${service}: ${remedy}`);
}
