/** A receipt: what is known of one closed run or rollout, as a document to keep after Temporal deletes it. */

/** What an entry is about. */
type ReceiptPart =
  | 'request'
  | 'held'
  | 'approval'
  | 'rejection'
  | 'backup'
  | 'baseline'
  | 'post'
  | 'deployment'
  /** Of a rollout. */
  | 'decision'
  /** Of a rollout: the run of one server, with the hash of its receipt. */
  | 'run'
  | 'end';

export interface ReceiptEntry {
  what: ReceiptPart;
  /** When it happened, by Temporal's clock, ISO 8601; null if it did not. */
  at: string | null;
  facts: Record<string, unknown>;
  /** The hash of the entry before; null for the first one. */
  previous: string | null;
  /** SHA-256 of the fields above as canonical JSON. */
  hash: string;
}

export interface Receipt {
  schemaVersion: number;
  kind: 'belay-receipt';
  workflowId: string;
  runId: string;
  entries: ReceiptEntry[];
  /** That of the last entry. */
  hash: string;
}

export const RECEIPT_KIND = 'belay-receipt';
