/** Chains the entries of a receipt: each hash covers the one before. Pure. */
import { hashOf } from '../../contract/hash-of.ts';
import { SCHEMA_VERSION } from '../../contract/names.ts';
import { RECEIPT_KIND, type Receipt, type ReceiptEntry } from './shapes.ts';

export type Unchained = Pick<ReceiptEntry, 'what' | 'at' | 'facts'>;

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
