/** What a receipt says about a run: its request, holds, answers, operations and end, in this order. Pure. */
import { hashOf } from '../../contract/canonical-json.ts';
import { backupServerId, lockIdOf } from '../../contract/ids.ts';
import { definedFields } from '../../contract/plain-object.ts';
import { type Receipt, RECEIPT_KIND, type ReceiptEntry } from './shapes.ts';
import type { BackupResult, DeploymentResult, RunInput, RunResult } from '../../contract/run.ts';
import { ROLLOUT_TYPE, SCHEMA_VERSION } from '../../contract/names.ts';
import type { RolloutInput, RolloutResult, TargetResult } from '../rollouts/shapes.ts';
import { type Approved, type Yes, planHash } from '../approvals/shapes.ts';

export interface KnownOperation {
  id: string;
  baseline: { at: string | null; status: string } | null;
  posts: SentPost[];
  /** What is not known because Temporal has deleted the operation. */
  missing?: string;
}

interface KnownOfRun {
  namespace: string;
  type: string;
  input: RunInput | null;
  result: RunResult;
  answered: readonly Answered[];
  operations: readonly KnownOperation[];
}

export interface SentPost {
  at: string | null;
  idempotencyKey: string | null;
  answeredAt: string | null;
  result: string | null;
  /** Present if it certainly had no effect, such as one that a permit forbade. */
  effect?: 'none';
}

export interface Recorded extends Pick<Receipt, 'workflowId' | 'runId'> {
  /** Run id of the execution that was reset, which approved plans name. Absent without a reset. */
  executionId?: string;
}

export function receiptOfRun(recorded: Recorded, known: KnownOfRun): Receipt {
  const { namespace, type, input, result, operations } = known;
  const { service, commit, backup, deployments } = result;
  // Approvals have entries of their own.
  const asked = input === null ? null : definedFields({ ...input, approved: undefined });
  const request = { namespace, ...recorded, type, service, commit, input: asked };
  return receiptOf(recorded, [
    ...begun(request, known),
    ...(backup === null ? [] : backupEntries(backup, operations)),
    ...deployments.flatMap((it) => deploymentEntries(it, operations)),
    ended(result),
  ]);
}

/** The last one counts, because an earlier attempt at the lock may have the same id. */
const ofLock = (operations: readonly KnownOperation[], id: string): KnownOperation | undefined =>
  operations.findLast((it) => it.id === id);

const postEntries = (operation: KnownOperation | undefined, of: object): Unchained[] =>
  (operation?.posts ?? []).map(({ at, ...post }) => ({ what: 'post', at, facts: { ...of, ...post } }));

const missingIn = (operation: KnownOperation | undefined): { missing?: string } =>
  operation?.missing === undefined ? {} : { missing: operation.missing };

function backupEntries(backup: BackupResult, operations: readonly KnownOperation[]): Unchained[] {
  const { serverId } = backup;
  const operation = ofLock(operations, backupServerId(serverId));
  return [
    ...postEntries(operation, { serverId }),
    { what: 'backup', at: backup.endedAt, facts: { ...backup, ...missingIn(operation) } },
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
    { what: 'deployment', at: deployment.endedAt, facts: { ...deployment, ...missingIn(operation) } },
  ];
}

/* What a receipt says about a rollout: the decisions about it, and the receipt of each of its runs. Pure. */

interface KnownOfRollout {
  namespace: string;
  input: RolloutInput | null;
  result: RolloutResult;
  answered: readonly Answered[];
  /** Each has the hash of its run's receipt. Null if there is no receipt. */
  targets: readonly (TargetResult & { receipt: string | null })[];
}

export function receiptOfRollout(recorded: Recorded, known: KnownOfRollout): Receipt {
  const { namespace, input, result, targets } = known;
  const { service, attempt, decisions } = result;
  const request = { namespace, ...recorded, type: ROLLOUT_TYPE, service, attempt, input };
  return receiptOf(recorded, [
    ...begun(request, known),
    ...decisions.map((it): Unchained => ({ what: 'decision', at: it.at, facts: { ...it } })),
    ...targets.map((it): Unchained => ({ what: 'run', at: it.endedAt, facts: { ...it } })),
    ended(result),
  ]);
}

/* What a receipt says about the begin and the end of a run or rollout, and about people's answers. Pure. */

type Known = Pick<KnownOfRun | KnownOfRollout, 'result' | 'answered'>;

const begun = (request: Unchained['facts'], { result, answered }: Known): Unchained[] => [
  { what: 'request', at: result.startedAt, facts: request },
  ...result.held.map((it): Unchained => ({ what: 'held', at: it.from, facts: { ...it } })),
  ...answered.flatMap(answerEntries),
];

const ended = ({ outcome, error, endedAt }: Known['result']): Unchained => ({
  what: 'end',
  at: endedAt,
  facts: { outcome, error },
});

/** A question with every answer that counted, whatever followed. */
export interface Answered extends Approved {
  /** A verified answer, in the same shape as an approval. */
  rejection: Yes | null;
}

function answerEntries({ rejection, ...approved }: Answered): Unchained[] {
  const { plan, yeses } = approved;
  const [hash, lastYes] = [planHash(plan), yeses.at(-1)];
  return [
    ...(lastYes === undefined ? [] : [{ what: 'approval' as const, at: lastYes.at, facts: { ...approved, hash } }]),
    ...(rejection === null
      ? []
      : [{ what: 'rejection' as const, at: rejection.at, facts: { plan, hash, ...rejection } }]),
  ];
}

/* Chains the entries of a receipt: each hash covers the one before. Pure. */

type Unchained = Pick<ReceiptEntry, 'what' | 'at' | 'facts'>;

export const entryHash = ({ what, at, facts, previous }: Omit<ReceiptEntry, 'hash'>): string =>
  hashOf({ what, at, facts, previous });

/** @param entries at least one, in their order */
export function receiptOf(run: Pick<Receipt, 'workflowId' | 'runId'>, entries: readonly Unchained[]): Receipt {
  const chained: ReceiptEntry[] = [];
  for (const entry of entries) {
    const previous = chained.at(-1)?.hash ?? null;
    chained.push({ ...entry, previous, hash: entryHash({ ...entry, previous }) });
  }
  const { workflowId, runId } = run;
  const hash = chained.at(-1)?.hash ?? '';
  return { schemaVersion: SCHEMA_VERSION, kind: RECEIPT_KIND, workflowId, runId, entries: chained, hash };
}
