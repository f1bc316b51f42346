/** The text that people read and sign when they approve a plan. Its bytes never change within a version. Pure. */
import type { ApprovalPlan, Decided } from '../approval.ts';
import { plainText } from './safe-text.ts';
import { targetLabel } from './target-text.ts';

/** Of signatures, so that no other use of the same key counts. */
export const APPROVAL_NAMESPACE = 'belay-approval@v1';

const MAX_LINE = 400;
const line = (text: string): string => plainText(text, MAX_LINE);

export interface SignedDecision {
  decision: Decided;
  by: string;
  why: string | null;
}

/** @param hash of the plan */
export function signedText(plan: ApprovalPlan, hash: string, { decision, by, why }: SignedDecision): string {
  return [
    'belay approval v1',
    `run: ${line(plan.workflowId)}`,
    `execution: ${line(plan.executionId)}`,
    `service: ${line(plan.service)}`,
    `does: ${line(doesText(plan))}`,
    `commit: ${plan.commit ?? 'whatever the branch holds when it begins'}`,
    `overrides: ${line(overridesText(plan))}`,
    `approval: ${plan.rules.map(({ name }) => name).join(', ')}`,
    `decision: ${decision}`,
    `by: ${line(by)}`,
    `why: ${why === null ? 'not given' : line(why)}`,
    `plan: sha256:${hash}`,
    '',
  ].join('\n');
}

function doesText({ serverId, targets, parts, wave, type }: ApprovalPlan): string {
  if (parts !== null) {
    const of = wave === null ? 'roll out to' : `begin wave ${wave}:`;
    return `${of} ${parts.servers} servers, ${parts.targets} sites and apps`;
  }
  const backup = serverId === null ? [] : [`back up ${serverId}`];
  const deploy = targets.length === 0 ? [] : [`deploy ${targets.map((it) => targetLabel(it)).join(', ')}`];
  return [...backup, ...deploy].join('; ') || type;
}

function overridesText({ override }: ApprovalPlan): string {
  return override === null ? 'none' : `${override.freezes.join(', ')}, because ${override.reason}`;
}
