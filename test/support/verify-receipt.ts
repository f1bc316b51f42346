/** Checks a receipt as `belay receipt --verify` does. */
import { answersBy } from '../../src/features/approvals/actions-receipts.ts';
import { verifyReceipt as verify } from '../../src/features/receipts/actions-verify.ts';

/** @param signers the text of a file of allowed signers; null without one */
export const verifyReceipt = (document: unknown, signers: string | null) =>
  verify(document, answersBy(signers === null ? null : { name: 'signers', text: signers }));
