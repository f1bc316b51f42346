/** What a receipt shows was requested of what people were asked about. Pure. */
import { isRecord } from '../contract/plain-object.ts';
import type { Receipt, ReceiptEntry } from '../contract/receipt.ts';
import type { Target } from '../contract/target.ts';

export interface Requested {
  kind: 'backup' | 'deployment';
  /** Of a deployment. */
  target: Target | null;
  atMs: number;
}

/** The requests that the service took. */
export const requestedIn = ({ entries }: Receipt): Requested[] => entries.flatMap(postIn);

function postIn({ what, at, facts: { target, result } }: ReceiptEntry): Requested[] {
  if (what !== 'post' || result !== 'accepted') return [];
  const atMs = Date.parse(at ?? '');
  return isRecord(target)
    ? [{ kind: 'deployment', target: target as unknown as Target, atMs }]
    : [{ kind: 'backup', target: null, atMs }];
}
