/** What `belay approve`, `reject` and `approvals` do. */
import type { ApprovalAnswer, ApprovalQuestion, Decided, AskedApproval, AskingRun } from './shapes.ts';
import { SCHEMA_VERSION } from '../../contract/names.ts';
import { BelayError } from '../../contract/errors.ts';
import { signedText, type SignedDecision, approvalSentence, factsOfPlan, partLines, stillNeededText } from './text.ts';
import { shellWord, plainText } from '../../contract/safe-text.ts';
import { printJson } from '../../process/json-document.ts';
import { print, printNote } from '../../process/print.ts';
import { signature } from '../../config/environment/environment.ts';
import type { Belay } from '../../starter.ts';
import { withBelay } from '../../cli/open-belay.ts';

export interface DecideOptions {
  plan?: string;
  by?: string;
  key?: string;
  github?: true;
  reason?: string;
  json?: boolean;
}

export function decideApproval(decision: Decided, workflowId: string, options: DecideOptions): Promise<void> {
  return answer(decision, workflowId, options).catch((error: unknown) => {
    if (!(error instanceof BelayError) || error.type !== 'NoWorker') throw error;
    const again = commandOf(decision, workflowId, options);
    throw new BelayError('NoWorker', `${error.message}; then repeat: ${again}`);
  });
}

function commandOf(decision: Decided, workflowId: string, { github, plan, by, key, reason }: DecideOptions): string {
  const options = Object.entries({ plan, by, key, reason });
  const given = options.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, shellWord(value)]));
  return ['belay', decision, shellWord(workflowId), ...given, ...(github === true ? ['--github'] : [])].join(' ');
}

async function answer(decision: Decided, workflowId: string, options: DecideOptions): Promise<void> {
  const { reason: why = null, by: named = signature(), json } = options;
  await withBelay(async (belay) => {
    const question = await belay.approvals.question(workflowId);
    if (question === null) throw new BelayError('Usage', `${workflowId} asks for no approval now`);
    printNote(questionLines(question));
    const { confirm } = await import('./actions-sign.ts');
    await confirm(question, decision, options.plan);
    const { by, proof } = await prove(question, { decision, by: named, why }, options);
    await belay.approvals[decision](workflowId, { plan: question.hash, by, why, proof });
    const left = decision === 'approve' ? await leftToAsk(belay, question) : null;
    if (json !== true) return print(takenText(decision, { workflowId, by, left }));
    const taken = { workflowId, plan: question.hash, decision, by, proof: proof.kind, asked: left?.asked ?? null };
    printJson({ schemaVersion: SCHEMA_VERSION, ...taken, error: null });
  });
}

/** As the question wants it, or as the options say. */
async function prove(
  { plan, hash, asked }: ApprovalQuestion,
  decided: SignedDecision,
  { key, github }: Pick<DecideOptions, 'key' | 'github'>,
): Promise<Pick<ApprovalAnswer, 'by' | 'proof'>> {
  if (github === true) {
    const { jobToken } = await import('./actions-sign.ts');
    const { token, actor } = await jobToken(hash, decided.decision);
    return { by: actor, proof: { kind: 'github', token } };
  }
  if (asked.every(({ proof }) => proof !== 'ssh')) return { by: decided.by, proof: { kind: 'none' } };
  const { signBySsh } = await import('./actions-sign.ts');
  const signed = await signBySsh(signedText(plan, hash, decided), key);
  return { by: decided.by, proof: { kind: 'ssh', signature: signed } };
}

/** What the same question still needs; null if it was answered. */
async function leftToAsk(belay: Belay, { plan: { workflowId }, hash }: ApprovalQuestion) {
  const next = await belay.approvals.question(workflowId).catch(() => null);
  return next?.hash === hash ? next : null;
}

export async function printApprovals({ json }: { json?: boolean }): Promise<void> {
  const asking = await withBelay((belay) => belay.approvals.list());
  if (json === true)
    return printJson({ schemaVersion: SCHEMA_VERSION, approvals: asking.map(approvalDocument), error: null });
  print(asking.length === 0 ? 'no run or rollout asks for an approval' : asking.flatMap(approvalLines));
}

/* Questions for approval as the command line shows them. */

/** Everything that a person is to read before they decide. */
export function questionLines({ plan, hash, parts, asked, until }: ApprovalQuestion): string[] {
  return [...factsOfPlan(plan, hash), ...partLines(parts), ...asked.map(askedLine), `until: ${until}`];
}

const PROOFS: Record<AskedApproval['proof'], string> = {
  ssh: 'proven by a signature of SSH',
  github: 'proven by a job of GitHub: `belay approve --github`',
  none: 'audit only, nothing proves who decides',
};

function askedLine({ name, need, proof, from, by }: AskedApproval): string {
  const anyone = proof === 'none' ? 'anyone' : 'anyone whose proof it accepts';
  const who = from === null ? anyone : from.map((it) => plainText(it)).join(', ');
  const how = PROOFS[proof];
  const so = by.length === 0 ? 'none yet' : by.map((it) => plainText(it)).join(', ');
  return `${plainText(name)}: needs ${need} from ${who} (${how}); approved by: ${so}`;
}

function approvalLines({ workflowId, question, why }: AskingRun): string[] {
  if (question === null)
    return [plainText(workflowId), `  asks for an approval that is not known: ${plainText(why ?? '', 400)}`];
  const { hash, asked, until } = question;
  return [plainText(workflowId), `  ${approvalSentence({ workflowId, plan: hash, asked, until })}`];
}

const approvalDocument = ({ workflowId, runId, startedAt, question, why }: AskingRun): object => ({
  workflowId,
  runId: question?.plan.executionId ?? runId,
  service: question?.plan.service ?? null,
  plan: question?.hash ?? null,
  does: question === null ? null : factsOfPlan(question.plan, question.hash),
  parts: question?.parts ?? null,
  asked: question?.asked ?? null,
  since: question?.plan.askedAt ?? startedAt,
  until: question?.until ?? null,
  why,
});

function takenText(
  decision: Decided,
  { workflowId, by, left }: { workflowId: string; by: string; left: ApprovalQuestion | null },
): string {
  const shown = plainText(workflowId);
  if (decision === 'reject') return `${shown} was rejected by ${plainText(by)}`;
  const next = left === null ? 'it goes on' : `it ${stillNeededText(left.asked)}`;
  return `${shown} was approved by ${plainText(by)}; ${next}: \`belay status ${shellWord(workflowId)}\``;
}
