/** A proof or a file of signers that cannot be used. Its message is for the person who sent or wrote it. */
export class ApprovalError extends Error {
  override readonly name = 'ApprovalError';
}
