/** Checks that the answers in a receipt are of its run or rollout, and allowed what it requested. */
import type { Signer } from '../approvals/proof-signers.ts';
import { ApprovalError } from '../approvals/errors.ts';
import { proveBySsh } from '../approvals/ssh-proof.ts';
import { fingerprint } from '../approvals/proof-ssh.ts';
import { verifySshSignature } from '../approvals/ssh-signature.ts';
import type { ApprovalPlan, Approved, Decided, Yes } from '../approvals/shapes.ts';
import { isPartOf, planHash, rootOf } from '../approvals/plan-hash.ts';
import { ROLLOUT_TYPE } from '../../contract/names.ts';
import type { Receipt } from './shapes.ts';
import type { RolloutInput } from '../rollouts/shapes.ts';
import type { RunInput } from '../../contract/run.ts';
import { isSameTarget, type Target } from '../../contract/target.ts';
import { APPROVAL_NAMESPACE, NOT_PROVEN, signedText } from '../approvals/text.ts';
import { differentPeople, goodUntilMs } from '../approvals/rules.ts';
import { plannedPartOf, plannedParts } from '../approvals/planned-parts.ts';
import { requestedIn, type Requested } from './requested.ts';

/** The facts of an entry `approval`: what was approved, and the hash of its plan. */
export interface ApprovalFacts extends Approved {
  hash: string;
}

/** The facts of an entry `rejection`. */
export interface RejectionFacts extends Yes {
  plan: ApprovalPlan;
  hash: string;
}

/** Who decided, and what proves it. */
export interface Proven {
  by: string;
  proof: string;
}

/** @throws Error if it does not allow what was requested */
export function verifyApproval(
  { hash, ...approved }: ApprovalFacts,
  receipt: Receipt,
  signers: readonly Signer[] | null,
): Proven[] {
  const { plan, yeses } = approved;
  requireOwn(approved, hash, receipt);
  const proofs = yeses.map((yes) => proofOf({ plan, hash, decision: 'approve' }, yes, signers));
  const requested = requestedIn(receipt, plan);
  if (requested.length > 0) requireEnough(approved, proofs);
  if (!requested.every(({ target }) => target === null || covers(approved, target, receipt)))
    throw new ApprovalError('it does not contain everything that was deployed');
  const early = requested.find((it) => !isGoodAt(approved, it));
  if (early !== undefined)
    throw new ApprovalError(`a ${early.kind} was requested before it was given, or when it was over`);
  return yeses.map(({ by }, index) => ({ by, proof: proofs[index]!.text }));
}

/** @throws Error if anything was requested all the same */
export function verifyRejection(
  { plan, hash, ...rejection }: RejectionFacts,
  receipt: Receipt,
  signers: readonly Signer[] | null,
): Proven {
  requireOwn({ plan, yeses: [] }, hash, receipt);
  const proof = proofOf({ plan, hash, decision: 'reject' }, rejection, signers);
  const [requested] = requestedIn(receipt, plan);
  if (requested !== undefined) throw new ApprovalError(`a ${requested.kind} was requested all the same`);
  return { by: rejection.by, proof: proof.text };
}

function requireOwn(approved: Approved, hash: string, receipt: Receipt): void {
  if (planHash(approved.plan) !== hash) throw new ApprovalError('its plan was changed');
  if (!isOf(approved, receipt)) throw new ApprovalError('it is one of another run');
}

/** An answer counts only for a rule of its own kind. */
function requireEnough({ plan: { rules }, yeses }: Approved, proofs: readonly CheckedProof[]): void {
  for (const { name, need, from, proof } of rules) {
    const counted = differentPeople(
      yeses.flatMap(({ by, proof: { kind } }, index) =>
        kind === proof && (from === null || from.includes(by)) ? [{ by, proof: proofs[index]!.key ?? NOT_PROVEN }] : [],
      ),
    );
    if (counted.length < need) throw new ApprovalError(`it has ${counted.length} of ${need} approvals (${name})`);
  }
}

/** A run of a rollout has the approval of its rollout. */
function isOf({ plan, part }: Approved, { workflowId, runId, entries }: Receipt): boolean {
  const { namespace, type, input } = entries[0]?.facts ?? {};
  if (plan.namespace !== namespace) return false;
  const { root } = plan.parts;
  if (plan.workflowId === workflowId && plan.executionId === runId) {
    const isRollout = type === ROLLOUT_TYPE;
    const parts = isRollout ? plannedParts(input as RolloutInput, plan.wave) : [plannedPartOf(input as RunInput)];
    // No signature covers its part itself.
    return root === rootOf(parts) && (part === undefined || isPartOf(root, part, part.path));
  }
  if (plan.type !== ROLLOUT_TYPE || part === undefined) return false;
  if (part.serverId !== (input as Partial<RunInput> | null)?.serverId) return false;
  return isPartOf(root, part, part.path);
}

function covers({ part }: Approved, target: Target, { entries }: Receipt): boolean {
  const { targets } = part ?? plannedPartOf(entries[0]?.facts['input'] as RunInput);
  return targets.some((it) => isSameTarget(it, target));
}

/** How long an approval is good bounds only when deployments begin. */
function isGoodAt(approved: Approved, { kind, atMs }: Requested): boolean {
  const lastMs = Math.max(...approved.yeses.map(({ at }) => Date.parse(at)));
  return lastMs <= atMs && (kind !== 'deployment' || atMs < goodUntilMs([approved]));
}

interface CheckedProof {
  /** Fingerprint of the key; null if there is none. */
  key: string | null;
  /** For people. */
  text: string;
}

/** @throws ApprovalError if it proves nothing. With signers, that is everything but a signature of one of them. */
function proofOf(
  { plan, hash, decision }: { plan: ApprovalPlan; hash: string; decision: Decided },
  { by, why, at, proof }: Yes,
  signers: readonly Signer[] | null,
): CheckedProof {
  if (proof.kind !== 'ssh') {
    const text =
      proof.kind === 'none' ? 'audit only, not proven' : 'a job of GitHub; its token was verified when it was given';
    if (signers !== null) throw new ApprovalError(`no signer proves the answer of ${by}: ${text}`);
    return { key: null, text };
  }
  const { signature } = proof;
  const text = signedText(plan, hash, { decision, by, why });
  if (signers === null) {
    const key = fingerprint(verifySshSignature(signature, text, APPROVAL_NAMESPACE));
    return { key, text: `${key}, a key that the receipt names` };
  }
  const key = proveBySsh(signers, { signature, text, namespace: APPROVAL_NAMESPACE, principal: by }, Date.parse(at));
  return { key, text: key };
}
