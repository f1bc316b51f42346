/** A worker starts only if the questions that it asks can be answered. */
import { ConfigError } from '../../config/environment/config-error.ts';
import type { Configuration } from '../../config/load.ts';
import { createProofDeps, unanswerable } from './worker-proofs.ts';
import { policyApprovals } from './sections-approvals.ts';
import { messageOf } from '../../contract/message-of.ts';

/** @throws ConfigError for a file of signers that cannot be used, or has too few of them */
export async function requireSigners(configuration: Configuration): Promise<void> {
  const { readText } = createProofDeps();
  for (const approval of policyApprovals(configuration)) {
    const problem = await unanswerable(approval, readText).catch((error: unknown) => messageOf(error));
    if (problem !== null) throw new ConfigError(problem);
  }
}
