/** Checks a receipt without Temporal: no entry was changed, and people allowed what it did. */
import { z } from 'zod';
import { plainText } from '../../contract/safe-text.ts';
import { entryHash } from './entries.ts';
import { RECEIPT_KIND, type CheckAnswers, type CheckedAnswers, type Receipt, type ReceiptEntry } from './shapes.ts';

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

export function verifyReceipt(document: unknown, checkAnswers: CheckAnswers): CheckedAnswers {
  const parsed = receipt.safeParse(document);
  if (!parsed.success) return { approvals: [], rejections: [], problems: ['it is not a receipt of Belay'] };
  const read = parsed.data as Receipt;
  const { problems, ...answers } = checkAnswers(read);
  return { ...answers, problems: [...problemsOfChain(read), ...problems] };
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
  if (entries.at(-1)?.what !== 'end') problems.push('entries: the last one is not the end, so entries were removed');
  const { facts } = entries[0] as ReceiptEntry;
  if (facts['workflowId'] !== workflowId || facts['runId'] !== runId)
    problems.push('workflowId or runId: they are not those of the request');
  return problems;
}
