/** What a receipt says about a run, in the order in which it happened. Pure. */
import { backupServerId, lockIdOf } from '../../contract/ids.ts';
import type { Receipt } from './shapes.ts';
import type { BackupResult, DeploymentResult, RunInput, RunResult } from '../../contract/run.ts';
import { answerEntries, heldEntries, type Answered } from './answer-entries.ts';
import type { Unchained } from './chain.ts';

/** An operation that the run started. */
export interface KnownOperation {
  /** Its workflow id. */
  id: string;
  baseline: { at: string | null; status: string } | null;
  posts: { at: string | null; idempotencyKey: string | null; answeredAt: string | null; result: string | null }[];
}

interface KnownOfRun {
  namespace: string;
  type: string;
  input: RunInput | null;
  result: RunResult;
  answered: readonly Answered[];
  operations: readonly KnownOperation[];
}

type Named = Pick<Receipt, 'workflowId' | 'runId'>;

export function entriesOf({ workflowId, runId }: Named, known: KnownOfRun): Unchained[] {
  const { namespace, type, input, result, answered, operations } = known;
  const { service, commit, held, backup, deployments, outcome, error, startedAt, endedAt } = result;
  return [
    {
      what: 'request',
      at: startedAt,
      facts: { namespace, workflowId, runId, type, service, commit, input: withoutApproved(input) },
    },
    ...heldEntries(held),
    ...answered.flatMap(answerEntries),
    ...(backup === null ? [] : backupEntries(backup, operations)),
    ...deployments.flatMap((it) => deploymentEntries(it, operations)),
    { what: 'end', at: endedAt, facts: { outcome, error } },
  ];
}

/** What was approved has entries of its own. */
function withoutApproved(input: RunInput | null): RunInput | null {
  if (input === null) return null;
  const rest = { ...input };
  delete rest.approved;
  return rest;
}

/** The last one counts: a lock may have been tried before. */
const ofLock = (operations: readonly KnownOperation[], id: string): KnownOperation | undefined =>
  operations.findLast((it) => it.id === id);

const postEntries = (operation: KnownOperation | undefined, of: object): Unchained[] =>
  (operation?.posts ?? []).map(({ at, ...post }) => ({ what: 'post', at, facts: { ...of, ...post } }));

function backupEntries(backup: BackupResult, operations: readonly KnownOperation[]): Unchained[] {
  const { serverId } = backup;
  return [
    ...postEntries(ofLock(operations, backupServerId(serverId)), { serverId }),
    { what: 'backup', at: backup.endedAt, facts: { ...backup } },
  ];
}

function deploymentEntries(deployment: DeploymentResult, operations: readonly KnownOperation[]): Unchained[] {
  const { target } = deployment;
  const operation = ofLock(operations, lockIdOf(target));
  const baseline = operation?.baseline ?? null;
  return [
    ...(baseline === null
      ? []
      : [{ what: 'baseline' as const, at: baseline.at, facts: { target, status: baseline.status } }]),
    ...postEntries(operation, { target }),
    { what: 'deployment', at: deployment.endedAt, facts: { ...deployment } },
  ];
}
