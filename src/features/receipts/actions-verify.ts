/** Checks a receipt without Temporal: that no entry was changed, and that people allowed what it did. */
import { z } from 'zod';
import type { Signer } from '../approvals/proof-signers.ts';
import { RECEIPT_KIND, type Receipt, type ReceiptEntry } from './shapes.ts';
import { plainText } from '../../contract/safe-text.ts';
import { entryHash } from './chain.ts';
import {
  verifyApproval,
  verifyRejection,
  type ApprovalFacts,
  type Proven,
  type RejectionFacts,
} from './verify-approval.ts';

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
  approvals: Proven[];
  rejections: Proven[];
  problems: string[];
}

/** @param signers of this machine; null to verify signatures only with the keys that they contain */
export function verifyReceipt(document: unknown, signers: readonly Signer[] | null): Verified {
  const parsed = receipt.safeParse(document);
  if (!parsed.success) return { approvals: [], rejections: [], problems: ['it is not a receipt of Belay'] };
  const read = parsed.data as Receipt;
  const verified: Verified = { approvals: [], rejections: [], problems: problemsOfChain(read) };
  const { approvals, rejections, problems } = verified;
  for (const { what, facts } of read.entries) {
    try {
      if (what === 'approval') approvals.push(...verifyApproval(facts as unknown as ApprovalFacts, read, signers));
      if (what === 'rejection') rejections.push(verifyRejection(facts as unknown as RejectionFacts, read, signers));
    } catch (error) {
      problems.push(`${what}: ${error instanceof Error ? plainText(error.message) : 'it cannot be read'}`);
    }
  }
  problems.push(...missingAnswers(read));
  return verified;
}

/** What held it back names who decided. Their answers have entries of their own. */
function missingAnswers({ entries }: Receipt): string[] {
  return entries.flatMap(({ what, facts: { for: kind, name, from, end, by } }) => {
    if (what !== 'held' || kind !== 'approval' || (end !== 'approved' && end !== 'rejected')) return [];
    const answers = entries.filter((it) => it.what === (end === 'approved' ? 'approval' : 'rejection'));
    const isThere = answers.some(({ facts }) => {
      const { plan, yeses, by: rejectedBy } = facts as Partial<ApprovalFacts & RejectionFacts>;
      const isAsked = plan?.askedAt === from && plan?.rules.some((rule) => rule.name === name) === true;
      const names = end === 'approved' ? (yeses ?? []).map((yes) => yes.by) : [rejectedBy];
      return (
        isAsked &&
        String(by)
          .split(', ')
          .every((it) => names.includes(it))
      );
    });
    return isThere ? [] : [`held: it was ${end} by ${plainText(String(by))}, of which there is no answer`];
  });
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
