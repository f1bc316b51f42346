/** Questions for approval as the command line shows them. */
import type { ApprovalQuestion, AskedApproval, Decided, PlannedPart } from '../../contract/approval.ts';
import { approvalSentence, factsOfPlan, stillNeededText } from '../../contract/wording/approval-text.ts';
import { plainText, shellWord } from '../../contract/wording/safe-text.ts';
import { targetLabel } from '../../contract/wording/target-text.ts';

const MAX_PARTS_SHOWN = 50;

/** Everything that a person is to read before they decide. */
export function questionLines({ plan, hash, parts, asked, until }: ApprovalQuestion): string[] {
  return [
    ...factsOfPlan(plan, hash),
    ...parts.slice(0, MAX_PARTS_SHOWN).map(partLine),
    ...(parts.length > MAX_PARTS_SHOWN ? [`  and ${parts.length - MAX_PARTS_SHOWN} more: --json lists them`] : []),
    ...asked.map(askedLine),
    `until: ${until}`,
  ];
}

const partLine = ({ serverId, targets }: PlannedPart): string =>
  `  server ${plainText(serverId)}: ${targets.map((it) => targetLabel(it)).join(', ') || 'only its backup'}`;

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

export function approvalLines(question: ApprovalQuestion): string[] {
  const { plan, hash, asked, until } = question;
  const { workflowId } = plan;
  return [plainText(workflowId), `  ${approvalSentence({ workflowId, plan: hash, asked, until })}`];
}

export const approvalDocument = ({ plan, hash, parts, asked, until }: ApprovalQuestion): object => ({
  workflowId: plan.workflowId,
  runId: plan.executionId,
  service: plan.service,
  plan: hash,
  does: factsOfPlan(plan, hash),
  parts,
  asked,
  since: plan.askedAt,
  until,
});

export function takenText(
  decision: Decided,
  { workflowId, by, left }: { workflowId: string; by: string; left: ApprovalQuestion | null },
): string {
  const shown = plainText(workflowId);
  if (decision === 'reject') return `${shown} was rejected by ${plainText(by)}`;
  const next = left === null ? 'it goes on' : `it ${stillNeededText(left.asked)}`;
  return `${shown} was approved by ${plainText(by)}; ${next}: belay status ${shellWord(workflowId)}`;
}
