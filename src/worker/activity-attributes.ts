/** What an activity is about, by the names that the log uses. */
import type { Info } from '@temporalio/activity';
import { isRecord } from '../contract/plain-object.ts';
import type { OperationKind } from '../contract/sinks.ts';
import type { Attributes } from '../tracing/tracing.ts';

const OPERATIONS: Record<string, OperationKind> = {
  createBackup: 'backup',
  readBackup: 'backup',
  triggerDeployment: 'deployment',
  readLatestDeployment: 'deployment',
};

export const isPooled = ({ activityType }: Pick<Info, 'activityType'>): boolean =>
  activityType === 'pollWhileInProgress';

/** What a pooled wait reads. */
export const readNameOf = (input: unknown): string =>
  'backupId' in subjectIn(input) ? 'readBackup' : 'readLatestDeployment';

function subjectIn(input: unknown): Record<string, unknown> {
  const { subject } = isRecord(input) ? input : {};
  return isRecord(subject) ? subject : {};
}

export function attributesOf(info: Info, input: unknown): Attributes {
  const { workflowExecution, activityType, attempt } = info;
  const { target, serverId } = { ...(isRecord(input) ? input : {}), ...subjectIn(input) };
  const { kind, id } = isRecord(target) ? target : {};
  return {
    workflowId: workflowExecution?.workflowId,
    runId: workflowExecution?.runId,
    operation: OPERATIONS[isPooled(info) ? readNameOf(input) : activityType],
    server: typeof serverId === 'string' ? serverId : undefined,
    ...(typeof id === 'string' ? { [kind === 'app' ? 'app' : 'site']: id } : {}),
    activity: activityType,
    attempt,
  };
}
