/**
 * The parts of a run: its backup and its deployments. A part's operation starts once its lock is free. Operations outlive
 * their runs, because they are locks.
 */
import {
  CancellationScope,
  ChildWorkflowCancellationType,
  condition,
  ParentClosePolicy,
  startChild,
  workflowInfo,
} from '@temporalio/workflow';
import { backupServerId, lockIdOf } from '../../contract/ids.ts';
import type {
  BackupConclusion,
  BackupServerInput,
  DeploySiteInput,
  Execution,
  OperationMemo,
} from '../../contract/operation.ts';
import { definedFields } from '../../contract/plain-object.ts';
import { emptyBackup, emptyDeployment } from '../../contract/results.ts';
import type { DeploymentResult } from '../../contract/run.ts';
import { plainText } from '../../contract/safe-text.ts';
import { isServed } from '../../contract/service-identity.ts';
import { targetLabel, targetText, type Target } from '../../contract/target.ts';
import { TIMING } from '../../contract/timing.ts';
import { operationStaticDetails } from '../../request/run-details.ts';
import { awaitChild } from '../children.ts';
import { COMPLETED, conclude, type Conclusion, type Ended } from '../conclusion.ts';
import type { LockAttempt } from '../lock/acquire.ts';
import { isAfterReset } from '../reset.ts';
import { startAttributes } from '../ui.ts';
import { takePlace } from './admit.ts';
import type { RunPart } from './hooks.ts';
import { noteRead, type RunState } from './run-state.ts';

/**
 * Begins a part. If a hold ended it before its request left, waits until the hold lets it begin, and begins it again.
 *
 * @param renew makes what the part relies on anew, if a wait has made it too old
 */
export async function attempt(
  run: RunState,
  part: RunPart,
  begin: () => Promise<Conclusion>,
  renew?: (run: RunState) => Promise<Conclusion>,
): Promise<Conclusion> {
  for (;;) {
    const end = await begin();
    const hold = run.holds.find((it) => it.reopens?.(end) === true);
    if (hold === undefined) return end;
    if (part.kind === 'backup') run.result.backup = null;
    else forgetDeployment(run, part.target);
    const refusal = (await hold.wait?.(part)) ?? (await takePlace(run));
    if (refusal !== null) return notStarted(run, part, refusal);
    const renewed = (await renew?.(run)) ?? COMPLETED;
    if (renewed.outcome !== 'completed') return notStarted(run, part, renewed);
  }
}

/** Only what was read of the target still counts. */
function forgetDeployment(run: RunState, target: Target): void {
  const { lastStatus } = run.result.deployments[run.targets.indexOf(target)]!;
  if (lastStatus !== null) noteRead(run, target, 'status');
  record(run, target, emptyDeployment(target));
}

export function notStarted(run: RunState, part: RunPart, conclusion: Conclusion): Conclusion {
  const outcome = 'not_started';
  if (part.kind === 'backup') run.result.backup = { ...emptyBackup(part.serverId), outcome };
  else record(run, part.target, { ...emptyDeployment(part.target), outcome, error: conclusion.error });
  return conclusion;
}

export function record({ targets, result }: RunState, target: Target, deployment: DeploymentResult): void {
  result.deployments[targets.indexOf(target)] = deployment;
}

/** What the holds and checks of a run add to the input of its operations. */
export function carried({ holds, checks }: RunState, part: RunPart): Partial<DeploySiteInput> {
  const ofChecks = part.kind === 'backup' ? [] : checks.map((it) => it.carries(part.target));
  return Object.assign({}, ...holds.map((it) => it.carries?.(part)), ...ofChecks) as Partial<DeploySiteInput>;
}

/** Ids such as `12` exist at every service. What names no service counts as ours, because earlier versions named none. */
export const isForOther = (run: RunState, { service }: { service?: string }): boolean =>
  service !== undefined && !isServed(service, run.service);

/** What every operation of the run gets. @param step one for each request that the run may make */
export function sharedInput(run: RunState, part: RunPart, step: string) {
  const { service, facts, plan, input, jitter } = run;
  return {
    ...service,
    searchAttributes: facts.searchAttributes,
    // The first execution's id survives a reset, so a repeated request carries the same key.
    idempotencyKey: `${workflowInfo().firstExecutionRunId}:${step}`,
    reset: isAfterReset(),
    waits: plan.waits,
    ...definedFields({ fleet: input.fleet }),
    ifBusy: plan.ifBusy,
    outageBudgetMs: plan.outageBudgetMs,
    jitter,
    ...carried(run, part),
  };
}

/** An operation that continues without its run, or is about to end. */
export interface LeftOperation<R> {
  execution: Execution;
  isClosed: () => boolean;
  closed: Promise<Ended<R>>;
}

/** How an operation ended. A backup may also be shared with the holder of its lock, or continue without the run. */
type PartEnd<R> = Ended<R> | { shared: BackupConclusion } | { left: LeftOperation<R> };

/** Starts the operation of a part once its lock is free, and waits for its end. @param fallback its result if it leaves none */
export async function operate<R extends Pick<Conclusion, 'outcome'>>(
  run: RunState,
  part: RunPart,
  input: Omit<BackupServerInput, 'waiters'> | Omit<DeploySiteInput, 'waiters'>,
  fallback: R,
): Promise<PartEnd<R>> {
  const { plan } = run;
  const isBackup = part.kind === 'backup';
  const lockId = isBackup ? backupServerId(part.serverId) : lockIdOf(part.target);
  const isOther = (it: { service?: string }) => isForOther(run, it);
  const got = await run.acquireLock({
    lockId,
    operation: part.kind,
    start: (waiters) => startOperation<R>(run, part, lockId, { ...input, waiters }),
    // A backup in progress is shared, so a busy server is never a reason to fail.
    ifBusy: isBackup ? 'wait' : plan.ifBusy,
    busyTimeoutMs: plan.busyTimeoutMs,
    accept: (backup) => isBackup && backup.result.backupId !== null && !isOther(backup),
    onQueued(waiting) {
      if (!isBackup && run.phase() !== 'queued') run.setPhase('queued');
      run.setWaiting(waiting);
    },
    waiter: definedFields({ work: input.work }),
    isForOther: isOther,
  });
  if (got.kind === 'backup') return { shared: got.conclusion };
  if (got.kind !== 'lock') return { ...fallback, ...withoutLock(got, part, lockId) };
  if (run.phase() === 'queued') run.setPhase('deploy');
  const { child, execution, scope } = got.child;
  let isClosed = false;
  const closed = awaitChild(child, fallback).finally(() => (isClosed = true));
  await condition(() => isClosed || run.cancellation.requested);
  const isLeft = !isClosed && isBackup;
  // A deployment reports what is known.
  if (!isClosed && !isBackup) scope.cancel();
  const ended = isLeft ? { left: { execution, isClosed: () => isClosed, closed } } : await closed;
  run.setOperation(null);
  return ended;
}

function withoutLock(
  attempted: Exclude<LockAttempt<unknown>, { kind: 'lock' | 'backup' }>,
  part: RunPart,
  lockId: string,
): Conclusion {
  if (attempted.kind === 'other_service') {
    const held = `the lock ${lockId} is held for another service, ${attempted.service}`;
    return conclude('not_started', 'Refused', `${held}: give each service a namespace of its own`);
  }
  const isBackup = part.kind === 'backup';
  const what = isBackup ? `server ${part.serverId}` : targetText(part.target);
  const done = isBackup ? 'backed up' : 'deployed';
  if (attempted.kind === 'cancelled')
    return conclude('not_started', 'Cancelled', `cancelled before ${what} was ${done}`);
  const holds = isBackup ? `held the lock ${lockId} for too long` : `holds the lock ${lockId}`;
  return conclude('not_started', 'Busy', `${what} was not ${done}: another run ${holds}`);
}

async function startOperation<R>(
  run: RunState,
  part: RunPart,
  workflowId: string,
  input: BackupServerInput | DeploySiteInput,
) {
  const isBackup = part.kind === 'backup';
  const { searchAttributes, service } = input;
  // The service cannot stop a backup, and other runs may share it, so it continues when its run is cancelled.
  const scope = new CancellationScope({ cancellable: !isBackup });
  const tell = (it: 'starting' | Execution | null) => {
    if (!isBackup) run.holds.forEach((hold) => hold.deploys?.(it));
  };
  tell('starting');
  const starting = scope.run(() =>
    startChild<(input: BackupServerInput | DeploySiteInput) => Promise<R>>(isBackup ? 'backupServer' : 'deploySite', {
      ...startAttributes(searchAttributes, { phase: isBackup ? 'trigger' : 'baseline' }),
      memo: { service } satisfies OperationMemo,
      workflowId,
      parentClosePolicy: ParentClosePolicy.ABANDON,
      workflowTaskTimeout: TIMING.worker.workflowTaskMs,
      staticSummary: plainText(isBackup ? `Back up ${part.serverId}` : `Deploy ${targetLabel(part.target)}`, 45),
      staticDetails: operationStaticDetails(input, workflowInfo()),
      cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
      args: [input],
    }),
  );
  const child = await starting.catch((error: unknown) => {
    tell(null);
    throw error;
  });
  const execution: Execution = { workflowId, runId: child.firstExecutionRunId };
  tell(execution);
  run.setOperation(execution);
  return { child, execution, scope };
}
