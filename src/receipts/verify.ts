/** Checks a receipt without Temporal: that no entry was changed, and that its approvals are of this run. */
import { z } from 'zod';
import type { Signer } from '../approvals/allowed-signers.ts';
import { ApprovalError } from '../approvals/errors.ts';
import { proveBySsh } from '../approvals/ssh-proof.ts';
import { fingerprint } from '../approvals/ssh-key.ts';
import { verifySshSignature } from '../approvals/ssh-signature.ts';
import type { Approved, Yes } from '../contract/approval.ts';
import { isPartOf, planHash } from '../contract/ids/plan-hash.ts';
import { RECEIPT_KIND, type Receipt, type ReceiptEntry } from '../contract/receipt.ts';
import { APPROVAL_NAMESPACE, signedText } from '../contract/wording/approval-text.ts';
import { plainText } from '../contract/wording/safe-text.ts';
import { entryHash } from './chain.ts';

const entry = z.object({
  what: z.string(),
  at: z.string().nullable(),
  facts: z.record(z.string(), z.unknown()),
  previous: z.string().nullable(),
  hash: z.string(),
});

const receipt = z.object({
  schemaVersion: z.int().min(1),
  kind: z.literal(RECEIPT_KIND),
  workflowId: z.string(),
  runId: z.string(),
  entries: z.array(entry).min(1),
  hash: z.string(),
});

export interface Verified {
  /** Who approved, and what proves it. */
  approvals: { by: string; proof: string }[];
  problems: string[];
}

/** @param signers of this machine; null to verify signatures only with the keys that they contain */
export function verifyReceipt(document: unknown, signers: readonly Signer[] | null): Verified {
  const parsed = receipt.safeParse(document);
  if (!parsed.success) return { approvals: [], problems: ['it is not a receipt of Belay'] };
  const read = parsed.data as Receipt;
  const approvals: Verified['approvals'] = [];
  const problems = problemsOfChain(read);
  for (const { what, facts } of read.entries) {
    if (what !== 'approval') continue;
    try {
      approvals.push(...provenBy(facts as unknown as ApprovalFacts, read, signers));
    } catch (error) {
      problems.push(`approval: ${error instanceof Error ? plainText(error.message) : 'it cannot be read'}`);
    }
  }
  return { approvals, problems };
}

function problemsOfChain({ entries, hash, workflowId, runId }: Receipt): string[] {
  const problems: string[] = [];
  let previous: string | null = null;
  for (const [index, it] of entries.entries()) {
    if (it.previous !== previous) problems.push(`entries[${index}]: the entry before it was removed or changed`);
    if (it.hash !== entryHash(it)) problems.push(`entries[${index}] (${plainText(it.what)}): it was changed`);
    previous = it.hash;
  }
  if (hash !== previous) problems.push('hash: it is not that of the last entry');
  const { facts } = entries[0] as ReceiptEntry;
  if (facts['workflowId'] !== workflowId || facts['runId'] !== runId)
    problems.push('workflowId or runId: they are not those of the request');
  return problems;
}

/** The facts of an entry `approval`: what was approved, and the hash of its plan. */
interface ApprovalFacts extends Approved {
  hash: string;
}

/** @throws Error if it is not an approval of this run */
function provenBy(
  { plan, yeses, part, hash }: ApprovalFacts,
  receiptOfRun: Receipt,
  signers: readonly Signer[] | null,
) {
  if (planHash(plan) !== hash) throw new ApprovalError('its plan was changed');
  const isOwn = plan.workflowId === receiptOfRun.workflowId && plan.executionId === receiptOfRun.runId;
  const isOfRollout = plan.parts !== null && part !== undefined && isPartOf(plan.parts.root, part, part.path);
  if (!isOwn && !isOfRollout) throw new ApprovalError('it is one of another run');
  return yeses.map((yes) => ({ by: yes.by, proof: proofOf(plan, hash, yes, signers) }));
}

function proofOf(plan: Approved['plan'], hash: string, { by, why, at, proof }: Yes, signers: readonly Signer[] | null) {
  if (proof.kind === 'none') return 'audit only, not proven';
  if (proof.kind === 'github') return 'a job of GitHub; its token was verified when it was given';
  const { signature } = proof;
  const text = signedText(plan, hash, { decision: 'approve', by, why });
  if (signers === null)
    return `${fingerprint(verifySshSignature(signature, text, APPROVAL_NAMESPACE))}, a key that the receipt names`;
  return proveBySsh(signers, { signature, text, namespace: APPROVAL_NAMESPACE, principal: by }, Date.parse(at));
}
