/**
 * Approvals: what is asked, what people answer, and the plan that binds both. Histories store these shapes: add only.
 */
import type { FactName } from '../../contract/facts.ts';
import type { FreezeOverride } from '../freezes/shapes.ts';
import type { ROLLOUT_TYPE, RunType } from '../../contract/names.ts';
import type { RolloutInput, RolloutWave } from '../rollouts/shapes.ts';
import type { RunError, RunInput, RunPlan } from '../../contract/run.ts';
import type { CheckWaiver } from '../site-checks/shapes.ts';
import type { Target } from '../../contract/target.ts';
import { hashOf } from '../../contract/canonical-json.ts';

/** An entry of `approvals:` in a worker's belay.yaml, as of the moment of the question. */
export interface ApprovalRule {
  name: string;
  /** How many different principals have to approve. */
  need: number;
  /** Principals who may decide. Null for everyone whose proof is accepted. */
  from: string[] | null;
  /**
   * `github`: a job of an environment on GitHub. `none`: Belay records the name that the approver gives, without a
   * proof.
   */
  proof: Proof['kind'];
  expiryMs: number;
  /** The longest time between the last approval and the start of a deployment. */
  goodForMs: number;
  /** The channels to notify. Null for all. */
  tell: string[] | null;
}

export interface PlannedPart {
  /** Null for a run without a server. */
  serverId: string | null;
  targets: Target[];
}

/** The options of a rollout that people approve along with its targets. */
interface PlannedRollout extends Pick<
  RolloutInput,
  'maxAtOnce' | 'maxFailures' | 'onFailures' | 'onGates' | 'options' | 'deploysUntil'
> {
  waves: (Pick<RolloutWave, 'name' | 'after' | 'approval'> & { servers: number })[];
}

type PlannedRun = RunPlan & Pick<RunInput, 'deploysUntil'>;

/** What people approve. They sign its hash, so an approval is good for nothing else. */
export interface ApprovalPlan {
  version: 1;
  namespace: string;
  workflowId: string;
  /** Run id of the first execution, so that no approval counts for a later one. */
  executionId: string;
  service: string;
  type: RunType | typeof ROLLOUT_TYPE;
  /** The server of a run. Null for a rollout, and for a run without a backup. */
  serverId: string | null;
  /** The root hash over the planned parts in order, and their numbers. */
  parts: { root: string; servers: number; targets: number };
  /** The wave that the question is about. Null for the whole rollout. */
  wave: string | null;
  options: PlannedRun | PlannedRollout;
  commit: string | null;
  override: Pick<FreezeOverride, 'freezes' | 'reason'> | null;
  noCheck: Pick<CheckWaiver, 'reason'> | null;
  rules: ApprovalRule[];
  askedAt: string;
}

type Proof =
  /** The output of `ssh-keygen -Y sign`. */
  | { kind: 'ssh'; signature: string }
  /** A token that GitHub gave to a job for this plan only. It expires a few minutes later. */
  | { kind: 'github'; token: string }
  | { kind: 'none' };

export type Decided = 'approve' | 'reject';

/** The payload of the updates `approve` and `reject`. */
export interface ApprovalAnswer {
  /** The hash of the plan, or at least its first 12 digits. */
  plan: string;
  by: string;
  why: string | null;
  proof: Proof;
}

/** The response to an update that counts. It puts the plan that people have read into the history. */
export interface CountedAnswer {
  plan: ApprovalPlan;
  at: string;
}

/** What a run or rollout asks now. The query `approval` returns it. */
export interface ApprovalQuestion {
  plan: ApprovalPlan;
  /** The hash of `plan`. */
  hash: string;
  /** The backups and deployments of the plan, server by server. */
  parts: PlannedPart[];
  asked: AskedApproval[];
  until: string;
}

/** A run or rollout that waits for people. */
export interface AskingRun {
  workflowId: string;
  runId: string;
  startedAt: string;
  /** Null if no worker answers, or if the answer is not what people would sign. */
  question: ApprovalQuestion | null;
  /** Why `question` is null. Null if there is a question. */
  why: string | null;
}

/** The progress of one approval. */
export interface AskedApproval extends Pick<ApprovalRule, 'name' | 'need' | 'proof' | 'from'> {
  /** Who has approved so far. */
  by: string[];
}

/** An approval that a worker has verified. */
export interface Yes extends Omit<ApprovalAnswer, 'plan'> {
  at: string;
  /** The rules that it counts for. If absent, it counts for each of them. */
  rules?: string[];
}

/** An approved plan. Each request for a deployment carries it. */
export interface Approved {
  plan: ApprovalPlan;
  yeses: Yes[];
  /** The part of the plan that this run or deployment is, with its path to the root hash. */
  part?: ApprovedPart;
}

interface ApprovedPart extends PlannedPart {
  path: HashStep[];
}

/** A step on the path to a root hash: the sibling's hash, and the side that it is on. */
interface HashStep {
  side: 'left' | 'right';
  hash: string;
}

export interface ApprovalCheck extends Omit<ApprovalAnswer, 'plan'> {
  plan: ApprovalPlan;
  decision: Decided;
  /** In milliseconds since 1970, by Temporal's clock. */
  atMs: number;
}

export interface CheckedApproval {
  rules: string[];
  /** Tells people which key proves it, or that nothing does. */
  proven: string;
}

/** The rules that a run or rollout has to ask for, or why it cannot ask. Only rollouts have rules for waves. */
export type RulesAnswer = { rules: ApprovalRule[]; waves?: WaveRule[] } | { error: RunError };

export interface WaveRule {
  wave: string;
  rule: ApprovalRule;
}

/** Workers answer this fact only if something needs an approval. */
export const APPROVALS_FACT: FactName<RulesAnswer> = { name: 'approvals' };

/* Hashes what is approved, and proves that one deployment is part of it. Pure. */

/** @returns 64 hexadecimal digits */
export const planHash = (plan: ApprovalPlan): string => hashOf(plan);

/**
 * A Merkle tree: a request carries the path of its own part instead of all parts. The leaves are the deployments in
 * their order, and each server is a tree of its own.
 */
export interface HashTree {
  root: string;
  /** @param index of the leaf @returns its way to the root */
  pathTo: (index: number) => HashStep[];
}

export const treeOf = (parts: readonly PlannedPart[]): HashTree => treeOver(parts.map((it) => targetsTreeOf(it).root));

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

/** The last of an odd number of hashes moves up unchanged. */
function levelAbove(hashes: readonly string[]): string[] {
  const above: string[] = [];
  for (let index = 0; index < hashes.length; index += 2) {
    const [left = '', right] = hashes.slice(index, index + 2);
    above.push(right === undefined ? left : nodeOf(left, right));
  }
  return above;
}
