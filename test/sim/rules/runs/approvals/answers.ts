/** Runs that ask for approvals, and people who answer, for tests. */
import { defaultPayloadConverter as payloads } from '@temporalio/common';
import type { Configuration } from '../../../../../src/config/load.ts';
import type { ApprovalAnswer, ApprovalQuestion, Decided } from '../../../../../src/features/approvals/shapes.ts';
import { QUERIES } from '../../../../../src/contract/names.ts';
import type { RunInput } from '../../../../../src/contract/run.ts';
import { signPlan } from '../../../../support/approvals.ts';
import { fresh } from '../../../../support/fresh.ts';
import { COMPLETED, FAILED, siteAfter } from '../../../../support/sites.ts';
import { allowedSigners, newSshSigner, type SshSigner } from '../../../../support/ssh-signer.ts';
import { MOMENT_MS, type StackOptions, type VirtualStack } from '../../../stack/stack.ts';
import type { Run } from '../../../temporal/types.ts';
import { phaseOf } from '../runs-that-wait.ts';

type Approvals = NonNullable<Configuration['approvals']>;

export const [ANA, BOB, EVE] = [newSshSigner(), newSshSigner(), newSshSigner()];

export const SIGNERS_FILE = '/etc/belay/allowed_signers';

/** @param more of the approval `production`, which is for everything */
export function asking(more: Partial<Approvals[string]> = {}, others: Approvals = {}): StackOptions {
  const production = { proof: 'ssh' as const, signers: { file: SIGNERS_FILE }, ...more };
  const files = new Map([[SIGNERS_FILE, allowedSigners({ ana: ANA, bob: BOB })]]);
  return { configuration: { approvals: { production, ...others } }, files };
}

/** No one has to prove anything. */
export const AUDIT_ONLY: StackOptions = { configuration: { approvals: { production: { proof: 'none' } } } };

export interface AskingRun {
  run: Run;
  serverId: string;
  siteId: string;
}

export function startAsking(stack: VirtualStack, more: Partial<RunInput> = {}): AskingRun {
  const [serverId, siteId] = [fresh('s'), siteAfter(stack.sandbox, FAILED, COMPLETED)];
  return { serverId, siteId, run: stack.start({ serverId, siteIds: [siteId], ...more }) };
}

export async function isAsking(stack: VirtualStack, { workflowId }: Run): Promise<ApprovalQuestion> {
  await stack.until('its question', () => phaseOf(stack, workflowId) === 'approval');
  await stack.forward(MOMENT_MS);
  return questionOf(stack, workflowId);
}

async function questionOf(stack: VirtualStack, workflowId: string): Promise<ApprovalQuestion> {
  const question = await stack.query<ApprovalQuestion | null>(workflowId, QUERIES.approval);
  if (question === null) throw new Error(`${workflowId} asks nothing`);
  return question;
}

export function signedAnswer(
  signer: SshSigner,
  { plan, hash }: Pick<ApprovalQuestion, 'plan' | 'hash'>,
  by: string,
  { decision = 'approve', why = null }: { decision?: Decided; why?: string | null } = {},
): ApprovalAnswer {
  return { plan: hash, by, why, proof: { kind: 'ssh', signature: signPlan(signer, plan, by, { decision, why }) } };
}

/** Lets time pass until the answer is taken. @returns why it is not, or null */
export async function answer(
  { world: { server }, until }: VirtualStack,
  run: Run,
  decision: Decided,
  given: unknown,
): Promise<string | null> {
  const update = server.update(run, decision, [payloads.toPayload(given)]);
  const outcome = await until(`the answer to ${decision}`, () => update.outcome);
  if (outcome === 'absent') return 'it has ended';
  if ('result' in outcome) return null;
  const { message, applicationFailureInfo: info } = outcome.failure;
  return `${info?.type}: ${message}`;
}
