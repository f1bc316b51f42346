/** A receipt: what is known of one closed run or rollout, as a document to keep after Temporal deletes it. */

type ReceiptPart =
  | 'request'
  | 'held'
  | 'approval'
  | 'rejection'
  | 'backup'
  | 'baseline'
  | 'post'
  | 'deployment'
  /** A person's decision about a rollout. */
  | 'decision'
  /** The run of one server in a rollout, with the hash of its receipt. */
  | 'run'
  | 'end';

export interface ReceiptEntry {
  what: ReceiptPart;
  /** When it happened, by Temporal's clock, ISO 8601. Null if it did not happen. */
  at: string | null;
  facts: Record<string, unknown>;
  /** The hash of the previous entry. Null for the first one. */
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
  /** The hash of the last entry. */
  hash: string;
}

export interface CheckedAnswer {
  by: string;
  /** What proves the answer, or that nothing does. */
  proof: string;
}

/** What a check of a receipt finds. It is good without problems. */
export interface CheckedAnswers {
  approvals: CheckedAnswer[];
  rejections: CheckedAnswer[];
  problems: string[];
}

/** Whether people allowed what a receipt shows as done. */
export type CheckAnswers = (receipt: Receipt) => CheckedAnswers;

export const RECEIPT_KIND = 'belay-receipt';
