/** Checks that an approval in a receipt is of its run, and was enough for what the run requested. */
import type { Signer } from '../approvals/allowed-signers.ts';
import { ApprovalError } from '../approvals/errors.ts';
import { proveBySsh } from '../approvals/ssh-proof.ts';
import { fingerprint } from '../approvals/ssh-key.ts';
import { verifySshSignature } from '../approvals/ssh-signature.ts';
import type { ApprovalPlan, Approved, Yes } from '../contract/approval.ts';
import { isPartOf, planHash } from '../contract/ids/plan-hash.ts';
import { isRecord } from '../contract/plain-object.ts';
import type { Receipt } from '../contract/receipt.ts';
import type { RunInput } from '../contract/run.ts';
import { isSameTarget, type Target } from '../contract/target.ts';
import { APPROVAL_NAMESPACE, signedText } from '../contract/wording/approval-text.ts';
import { goodUntilMs } from '../rules/policy/approval.ts';

/** The facts of an entry `approval`: what was approved, and the hash of its plan. */
export interface ApprovalFacts extends Approved {
  hash: string;
}

/** @returns who approved, and what proves it. @throws Error if it does not allow what the run did */
export function verifyApproval(
  { hash, ...approved }: ApprovalFacts,
  receipt: Receipt,
  signers: readonly Signer[] | null,
): { by: string; proof: string }[] {
  const { plan, yeses } = approved;
  if (planHash(plan) !== hash) throw new ApprovalError('its plan was changed');
  if (!isOf(approved, receipt)) throw new ApprovalError('it is one of another run');
  const proven = yeses.map((yes) => ({ by: yes.by, proof: proofOf(plan, hash, yes, signers) }));
  for (const { name, need, from } of plan.rules) {
    const counted = new Set(yeses.map(({ by }) => by).filter((by) => from === null || from.includes(by)));
    if (counted.size < need) throw new ApprovalError(`it has ${counted.size} of ${need} approvals (${name})`);
  }
  const requested = acceptedIn(receipt);
  if (!requested.every(({ target }) => covers(approved, target)))
    throw new ApprovalError('it does not contain everything that was deployed');
  if (!requested.every(({ atMs }) => isGoodAt(approved, atMs)))
    throw new ApprovalError('a deployment was requested before it was given, or when it was over');
  return proven;
}

/** A run of a rollout has the approval of its rollout. */
function isOf({ plan, part }: Approved, { workflowId, runId, entries }: Receipt): boolean {
  const { namespace, input } = entries[0]?.facts ?? {};
  if (plan.namespace !== namespace) return false;
  if (plan.parts === null) return plan.workflowId === workflowId && plan.executionId === runId;
  if (part === undefined || part.serverId !== (input as Partial<RunInput> | null)?.serverId) return false;
  const { serverId, targets } = part;
  return isPartOf(plan.parts.root, { serverId, targets }, part.path);
}

const covers = ({ plan, part }: Approved, target: Target): boolean =>
  (part?.targets ?? plan.targets).some((it) => isSameTarget(it, target));

function isGoodAt(approved: Approved, atMs: number): boolean {
  const lastMs = Math.max(...approved.yeses.map(({ at }) => Date.parse(at)));
  return lastMs <= atMs && atMs < goodUntilMs([approved]);
}

/** The requests for deployments that the service took. */
const acceptedIn = ({ entries }: Receipt): { target: Target; atMs: number }[] =>
  entries.flatMap(({ what, at, facts: { target, result } }) =>
    what === 'post' && isRecord(target) && result === 'accepted'
      ? [{ target: target as unknown as Target, atMs: Date.parse(at ?? '') }]
      : [],
  );

function proofOf(plan: ApprovalPlan, hash: string, { by, why, at, proof }: Yes, signers: readonly Signer[] | null) {
  if (proof.kind === 'none') return 'audit only, not proven';
  if (proof.kind === 'github') return 'a job of GitHub; its token was verified when it was given';
  const { signature } = proof;
  const text = signedText(plan, hash, { decision: 'approve', by, why });
  if (signers === null)
    return `${fingerprint(verifySshSignature(signature, text, APPROVAL_NAMESPACE))}, a key that the receipt names`;
  return proveBySsh(signers, { signature, text, namespace: APPROVAL_NAMESPACE, principal: by }, Date.parse(at));
}
