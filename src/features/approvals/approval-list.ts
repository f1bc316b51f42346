/** Questions for approval as the command line shows them. */
import type { ApprovalQuestion, AskedApproval, AskingRun, Decided } from './shapes.ts';
import { approvalSentence, factsOfPlan, partLines, stillNeededText } from './text.ts';
import { plainText, shellWord } from '../../contract/safe-text.ts';

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

export function approvalLines({ workflowId, question, why }: AskingRun): string[] {
  if (question === null)
    return [plainText(workflowId), `  asks for an approval that is not known: ${plainText(why ?? '', 400)}`];
  const { hash, asked, until } = question;
  return [plainText(workflowId), `  ${approvalSentence({ workflowId, plan: hash, asked, until })}`];
}

export const approvalDocument = ({ workflowId, runId, startedAt, question, why }: AskingRun): object => ({
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

export function takenText(
  decision: Decided,
  { workflowId, by, left }: { workflowId: string; by: string; left: ApprovalQuestion | null },
): string {
  const shown = plainText(workflowId);
  if (decision === 'reject') return `${shown} was rejected by ${plainText(by)}`;
  const next = left === null ? 'it goes on' : `it ${stillNeededText(left.asked)}`;
  return `${shown} was approved by ${plainText(by)}; ${next}: \`belay status ${shellWord(workflowId)}\``;
}
