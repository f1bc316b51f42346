/** Checks a receipt without Temporal: that no entry was changed, and that its approvals are of this run. */
import { z } from 'zod';
import type { Signer } from '../approvals/allowed-signers.ts';
import { RECEIPT_KIND, type Receipt, type ReceiptEntry } from '../contract/receipt.ts';
import { plainText } from '../contract/wording/safe-text.ts';
import { entryHash } from './chain.ts';
import { verifyApproval, type ApprovalFacts } from './verify-approval.ts';

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
      approvals.push(...verifyApproval(facts as unknown as ApprovalFacts, read, signers));
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
