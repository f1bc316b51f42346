/** What an answer proves to this worker, with its own signers. */
import { readFile } from 'node:fs/promises';
import { parseAllowedSigners, type Signer } from '../approvals/allowed-signers.ts';
import { ApprovalError } from '../approvals/errors.ts';
import { principalsFor, proveBySsh } from '../approvals/ssh-proof.ts';
import type { ApprovalPlan, Decided, Yes } from '../contract/approval.ts';
import { planHash } from '../contract/ids/plan-hash.ts';
import { APPROVAL_NAMESPACE, NOT_PROVEN, signedText } from '../contract/wording/approval-text.ts';
import { plainText } from '../contract/wording/safe-text.ts';
import type { PolicyApproval } from './approvals.ts';

export type ReadText = (path: string) => Promise<string>;

export const readTextFile: ReadText = (path) => readFile(path, 'utf8');

type Answer = Pick<Yes, 'by' | 'why' | 'proof'> & { decision: Decided };

/** @returns what proves the answer at this time. @throws ApprovalError if nothing does */
export type Prove = (plan: ApprovalPlan, answer: Answer, atMs: number) => string;

/** Reads the signers again, so that a key that was taken out counts no more. @throws Error if it cannot */
export async function proofsOf(approval: PolicyApproval, readText: ReadText): Promise<Prove> {
  const { rule } = approval;
  const signers = await signersOf(approval, readText);
  return (plan, answer, atMs) => {
    const { by, proof } = answer;
    if (plainText(by) !== by || (answer.why !== null && plainText(answer.why) !== answer.why))
      throw new ApprovalError('the name and the reason have to be one line each, of at most 200 characters');
    if (rule.from !== null && !rule.from.includes(by))
      throw new ApprovalError(`${by} is none of those who may decide about ${rule.name}: ${rule.from.join(', ')}`);
    if (rule.proof === 'none') return NOT_PROVEN;
    if (proof.kind !== 'ssh') throw new ApprovalError(`${rule.name} needs a signature of SSH`);
    const text = signedText(plan, planHash(plan), answer);
    const { signature } = proof;
    return proveBySsh(signers, { signature, text, namespace: APPROVAL_NAMESPACE, principal: by }, atMs);
  };
}

/** @throws Error whose message names file and line */
async function signersOf({ rule, signersFile }: PolicyApproval, readText: ReadText): Promise<Signer[]> {
  if (signersFile === null) return [];
  const text = await readText(signersFile).catch((error: NodeJS.ErrnoException) => {
    throw new Error(`${where(rule.name, signersFile)} cannot be read (${error.code ?? error.message})`);
  });
  try {
    return parseAllowedSigners(text);
  } catch (error) {
    throw new Error(`${where(rule.name, signersFile)}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const where = (name: string, file: string): string => `approvals.${name}.signers: ${file}`;

/** @returns why a question could never be answered, or null. @throws Error if the signers cannot be read */
export async function unanswerable(approval: PolicyApproval, readText: ReadText): Promise<string | null> {
  const { rule } = approval;
  if (rule.proof !== 'ssh') return null;
  const known = principalsFor(await signersOf(approval, readText), APPROVAL_NAMESPACE);
  const unknown = rule.from?.find((it) => !known.has(it));
  if (unknown !== undefined) return `approvals.${rule.name}.from: ${unknown} is not in the file of signers: add a key`;
  const count = rule.from?.length ?? known.size;
  if (count >= rule.need) return null;
  return `approvals.${rule.name}.need: it asks for ${rule.need}, and the file of signers has ${count}: lower it, or add keys`;
}
