/** Approvals: what is asked, what people answer, and the plan that both are bound to. Stored in histories: add only. */
import type { FactName } from '../../contract/facts.ts';
import type { FreezeOverride } from '../freezes/shapes.ts';
import type { ROLLOUT_TYPE, RunType } from '../../contract/names.ts';
import type { RolloutInput, RolloutWave } from '../rollouts/shapes.ts';
import type { RunError, RunInput, RunPlan } from '../../contract/run.ts';
import type { CheckWaiver } from '../site-checks/shapes.ts';
import type { Target } from '../../contract/target.ts';
import { hashOf } from '../../contract/ids.ts';

/** `github`: a job of an environment of GitHub. `none`: the name of the approver is only noted, and nothing proves it. */
type ProofKind = 'ssh' | 'github' | 'none';

/** An entry of `approvals:` in a worker's belay.yaml, as it was when the question was asked. */
export interface ApprovalRule {
  name: string;
  /** How many different principals have to approve. */
  need: number;
  /** Who may decide; null for everyone that the proof knows. */
  from: string[] | null;
  proof: ProofKind;
  expiryMs: number;
  /** From the last approval to the begin of each deployment. */
  goodForMs: number;
  /** Notification channels; null for all. */
  tell: string[] | null;
}

/** What a run or rollout does on one server. */
export interface PlannedPart {
  /** Null for a run without a server. */
  serverId: string | null;
  targets: Target[];
}

/** Of a rollout: how it goes on, beside what it does. */
interface PlannedRollout extends Pick<
  RolloutInput,
  'maxAtOnce' | 'maxFailures' | 'onFailures' | 'onGates' | 'options' | 'deploysUntil'
> {
  waves: (Pick<RolloutWave, 'name' | 'after' | 'approval'> & { servers: number })[];
}

type PlannedRun = RunPlan & Pick<RunInput, 'deploysUntil'>;

/** What is approved. Its hash is part of what people sign, so an approval holds for nothing else. */
export interface ApprovalPlan {
  version: 1;
  namespace: string;
  workflowId: string;
  /** Run id of its first execution, so that no approval counts for a later one. */
  executionId: string;
  service: string;
  type: RunType | typeof ROLLOUT_TYPE;
  /** Of a run; null for a rollout, and without a backup. */
  serverId: string | null;
  /** The root hash over its parts in their order, and how many there are. */
  parts: { root: string; servers: number; targets: number };
  /** The wave that is asked for; null for all of it. */
  wave: string | null;
  options: PlannedRun | PlannedRollout;
  commit: string | null;
  override: Pick<FreezeOverride, 'freezes' | 'reason'> | null;
  noCheck: Pick<CheckWaiver, 'reason'> | null;
  rules: ApprovalRule[];
  askedAt: string;
}

type Proof =
  /** What `ssh-keygen -Y sign` printed. */
  | { kind: 'ssh'; signature: string }
  /** A token that GitHub gave to a job, for this plan only. It is over a few minutes later. */
  | { kind: 'github'; token: string }
  | { kind: 'none' };

export type Decided = 'approve' | 'reject';

/** Payload of the updates `approve` and `reject`. */
export interface ApprovalAnswer {
  /** The hash of the plan, at least its first 12 digits. */
  plan: string;
  by: string;
  why: string | null;
  proof: Proof;
}

/** The answer to an update that counts. With it, the history shows which plan people have read. */
export interface CountedAnswer {
  plan: ApprovalPlan;
  at: string;
}

/** The answer of the query `approval`: what is asked now. */
export interface ApprovalQuestion {
  plan: ApprovalPlan;
  /** The hash of the plan. */
  hash: string;
  /** What it does, server by server. */
  parts: PlannedPart[];
  asked: AskedApproval[];
  until: string;
}

/** A run or rollout that waits for people. */
export interface AskingRun {
  workflowId: string;
  runId: string;
  startedAt: string;
  /** Null if no worker answers for it, or not with what people would sign. */
  question: ApprovalQuestion | null;
  /** Why there is no question. */
  why: string | null;
}

/** How far one approval is. */
export interface AskedApproval {
  name: string;
  need: number;
  proof: ProofKind;
  from: string[] | null;
  /** Who has approved. */
  by: string[];
}

/** An answer that a worker verified. */
export interface Yes {
  by: string;
  why: string | null;
  at: string;
  proof: Proof;
}

/** A plan that was approved, as it goes with each request for a deployment. */
export interface Approved {
  plan: ApprovalPlan;
  yeses: Yes[];
  /** What of it this run or deployment is, and its way to the root hash. */
  part?: ApprovedPart;
}

interface ApprovedPart extends PlannedPart {
  path: HashStep[];
}

/** The other hash on the way to a root hash, and the side on which it is. */
interface HashStep {
  side: 'left' | 'right';
  hash: string;
}

/** Asks a worker whether an answer counts. */
export interface ApprovalCheck {
  plan: ApprovalPlan;
  decision: Decided;
  by: string;
  why: string | null;
  proof: Proof;
  /** By Temporal's clock, in milliseconds since 1970. */
  atMs: number;
}

export interface CheckedApproval {
  /** The names of the rules that it counts for. */
  rules: string[];
  /** For people: the key that proves it, or that nothing does. */
  proven: string;
}

/** What a run or rollout has to ask for, or why it cannot. Only a rollout asks before waves. */
export type RulesAnswer = { rules: ApprovalRule[]; waves?: WaveRule[] } | { error: RunError };

/** What a rollout has to ask for before a wave begins. */
export interface WaveRule {
  wave: string;
  rule: ApprovalRule;
}

/** A workflow that started another one. */
export interface StartedBy {
  workflowId: string;
  runId: string;
}

/** Only of what needs an approval. */
export const APPROVALS_FACT: FactName<RulesAnswer> = { name: 'approvals' };

/* The hash of what is approved, and the hashes that show that one deployment is part of it. Pure. */

/** @returns 64 hexadecimal digits */
export const planHash = (plan: ApprovalPlan): string => hashOf(plan);

/**
 * A Merkle tree, so that a request carries the way of its own part instead of all parts. Its leaves are the deployments,
 * in their order, and those of a server are a tree of their own.
 */
export interface HashTree {
  root: string;
  /** @param index of the leaf @returns its way to the root */
  pathTo: (index: number) => HashStep[];
}

/** Of the servers. */
export const treeOf = (parts: readonly PlannedPart[]): HashTree => treeOver(parts.map((it) => targetsTreeOf(it).root));

/** Of the deployments on one server. */
export const targetsTreeOf = ({ serverId, targets }: PlannedPart): HashTree =>
  treeOver(targets.length === 0 ? [hashOf({ serverId })] : targets.map((target) => hashOf({ serverId, target })));

export const rootOf = (parts: readonly PlannedPart[]): string => treeOf(parts).root;

export function isPartOf(root: string, part: PlannedPart, path: readonly HashStep[]): boolean {
  const top = path.reduce(
    (below, { side, hash }) => (side === 'left' ? nodeOf(hash, below) : nodeOf(below, hash)),
    targetsTreeOf(part).root,
  );
  return top === root;
}

const nodeOf = (left: string, right: string): string => hashOf([left, right]);

function treeOver(leaves: readonly string[]): HashTree {
  const levels = [leaves];
  for (let level = leaves; level.length > 1; levels.push(level)) level = levelAbove(level);
  return {
    root: levels.at(-1)?.[0] ?? hashOf([]),
    pathTo: (index) =>
      levels.slice(0, -1).flatMap((level, height): HashStep[] => {
        const at = index >> height;
        const side = at % 2 === 0 ? 'right' : 'left';
        const hash = level[side === 'right' ? at + 1 : at - 1];
        return hash === undefined ? [] : [{ side, hash }];
      }),
  };
}

/** The last one of an odd number moves up as it is. */
function levelAbove(hashes: readonly string[]): string[] {
  const above: string[] = [];
  for (let index = 0; index < hashes.length; index += 2) {
    const [left = '', right] = hashes.slice(index, index + 2);
    above.push(right === undefined ? left : nodeOf(left, right));
  }
  return above;
}
