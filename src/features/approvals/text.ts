/**
 * Words for approvals: the text that people read and sign, whose bytes never change within a version, and sentences for
 * messages. Pure.
 */
import type { ApprovalAnswer, ApprovalPlan, AskedApproval, Decided, PlannedPart } from './shapes.ts';
import type { WaitingForApproval } from '../../contract/waiting.ts';
import { commandSpan, plainText, shellWord } from '../../contract/safe-text.ts';
import { targetLabel } from '../../contract/target.ts';

/** The namespace of signatures. A signature that the same key made for another use does not count. */
export const APPROVAL_NAMESPACE = 'belay-approval@v1';

/** Keeps the whole text on one line, because people would sign what a shortened one does not show. */
const line = (text: string): string => plainText(text, Infinity);

export type SignedDecision = Pick<ApprovalAnswer, 'by' | 'why'> & { decision: Decided };

/**
 * Returns the text that a person signs, under the namespace `belay-approval@v1` of SSH.
 *
 * @param hash of the plan
 */
export function signedText(plan: ApprovalPlan, hash: string, { decision, by, why }: SignedDecision): string {
  const decided = [`decision: ${decision}`, `by: ${line(by)}`, `why: ${why === null ? 'not given' : line(why)}`];
  return ['belay approval v1', ...linesOfPlan(plan), ...decided, hashLine(hash), ''].join('\n');
}

/** Returns one line for each fact, the hash last. @param hash of the plan */
export const factsOfPlan = (plan: ApprovalPlan, hash: string): string[] => [...linesOfPlan(plan), hashLine(hash)];

const hashLine = (hash: string): string => `plan: sha256:${hash}`;

function linesOfPlan(plan: ApprovalPlan): string[] {
  return [
    `run: ${line(plan.workflowId)}`,
    `execution: ${line(plan.executionId)}`,
    `service: ${line(plan.service)}`,
    `does: ${line(doesText(plan))}`,
    `parts: sha256:${line(plan.parts.root)}`,
    `commit: ${line(plan.commit ?? 'whatever the branch holds when it begins')}`,
    `overrides: ${line(overridesText(plan))}`,
    `approval: ${line(plan.rules.map(({ name }) => name).join(', '))}`,
  ];
}

function doesText({ type, serverId, parts: { servers, targets }, wave }: ApprovalPlan): string {
  const deployed = `${targets} ${targets === 1 ? 'site or app' : 'sites and apps'}`;
  if (type === 'rollOut') {
    const action = wave === null ? 'roll out to' : `begin wave ${wave}:`;
    return `${action} ${servers} ${servers === 1 ? 'server' : 'servers'}, ${deployed}`;
  }
  return [...(serverId === null ? [] : [`back up ${serverId}`]), `deploy ${deployed}`].join('; ');
}

/** Lists every target behind the root hash, so that people see all of them. */
export const partLines = (parts: readonly PlannedPart[]): string[] =>
  parts.flatMap(({ serverId, targets }) => {
    const where = serverId === null ? 'no server' : `server ${line(serverId)}`;
    const labels = targets.map((it) => line(targetLabel(it)));
    return wrapped(`  ${where}: `, labels.length === 0 ? ['only its backup'] : labels);
  });

/** Shows as many targets as a chat message has room for, and counts the rest. */
export function fewPartLines(parts: readonly PlannedPart[], most: number): string[] {
  const shown: PlannedPart[] = [];
  let left = most;
  for (const { serverId, targets } of parts) {
    if (left > 0) shown.push({ serverId, targets: targets.slice(0, left) });
    // A server that is only backed up takes a line, too.
    left -= Math.max(1, targets.length);
  }
  return [...partLines(shown), ...(left < 0 ? [`  and ${-left} more`] : [])];
}

const WIDTH = 100;

/** A first word that is too long for its line stays beside the heading. */
function wrapped(heading: string, words: readonly string[]): string[] {
  const [first = '', ...others] = words.map((word, index) => (index < words.length - 1 ? `${word},` : word));
  const lines = [`${heading}${first}`];
  for (const word of others) {
    const longer = `${lines.at(-1)} ${word}`;
    if (longer.length <= WIDTH) lines[lines.length - 1] = longer;
    else lines.push(`    ${word}`);
  }
  return lines;
}

function overridesText({ override, noCheck }: ApprovalPlan): string {
  const freezes = override === null ? [] : [`${override.freezes.join(', ')}, because ${override.reason}`];
  const checks = noCheck === null ? [] : [`no checks, because ${noCheck.reason}`];
  return [...freezes, ...checks].join('; ') || 'none';
}

/** People see this many digits of a plan's hash, and have to name at least as many. */
export const PLAN_DIGITS = 12;

export type ShownQuestion = Omit<WaitingForApproval, 'kind' | 'since'>;

/** It ends with the command, quoted as Markdown and other messages do. */
export function approvalSentence({ workflowId, plan, asked, until }: ShownQuestion): string {
  // Until the workflow has taken up the last answer, nothing is missing and it still waits.
  if (asked.every(({ need, by }) => by.length >= need)) return 'was approved, and continues';
  const approve = `belay approve ${shellWord(workflowId)} --plan ${plan.slice(0, PLAN_DIGITS)}`;
  return `${stillNeededText(asked)} until ${until}: ${commandSpan(approve)}`;
}

/** `waits for 1 more of 2 approvals (production)` */
export function stillNeededText(asked: readonly AskedApproval[]): string {
  const missing = asked.filter(({ need, by }) => by.length < need).map(missingText);
  return `waits for ${missing.join(' and ')}`;
}

function missingText({ name, need, by, proof }: AskedApproval): string {
  const left = need - by.length;
  const count = left === need ? String(need) : `${left} more of ${need}`;
  const audit = proof === 'none' ? ', audit only' : '';
  return `${count} ${need === 1 ? 'approval' : 'approvals'} (${name}${audit})`;
}

export function expiredText(asked: readonly AskedApproval[]): string {
  const counts = asked.map(({ name, need, by }) => `${by.length} of ${need} (${name})`);
  return `it was not approved in time, ${counts.join(', ')}: start it again`;
}

export const rejectedText = ({ by, why }: { by: string; why: string }): string =>
  `rejected by ${plainText(by)}: ${plainText(why)}`;

/** Every display of a decision without a proof says so. */
export const notProvenText = (proven: string): string => (proven === NOT_PROVEN ? 'audit only, not proven' : proven);

export const NOT_PROVEN = 'not proven';
