/** Decides which answers a question takes, what they count for, and how long an approval is good. Pure. */
import {
  type ApprovalAnswer,
  type ApprovalPlan,
  type Approved,
  type AskedApproval,
  type Decided,
  type Yes,
  type PlannedPart,
  rootOf,
  targetsTreeOf,
} from './shapes.ts';
import { isRecord } from '../../contract/plain-object.ts';
import { NOT_PROVEN, PLAN_DIGITS } from './text.ts';
import { plainText } from '../../contract/safe-text.ts';
import type { RolloutInput } from '../rollouts/shapes.ts';
import type { RunInput } from '../../contract/run.ts';
import { isSameTarget, targetsOf, type Target } from '../../contract/target.ts';

export interface OpenQuestion {
  plan: ApprovalPlan;
  hash: string;
  /** The number of questions of its workflow so far, including this one. */
  count: number;
  endsMs: number;
  asked: AskedApproval[];
  yeses: Yes[];
  rejected: { by: string; why: string; proven: string } | null;
  /** How many answers had a proof that no worker accepted. */
  badAnswers: number;
  /** Who has approved, and what proves it. */
  proven: Map<string, string>;
}

/**
 * The limit of one question. All questions of a rollout together stay below the number of updates that Temporal allows.
 */
const MAX_BAD_ANSWERS = 50;

const MAX_TEXT = 200;
const MAX_PROOF = 16_384;

export function openQuestion(plan: ApprovalPlan, hash: string, count: number): OpenQuestion {
  const expiryMs = Math.min(...plan.rules.map((rule) => rule.expiryMs));
  return {
    plan,
    hash,
    count,
    endsMs: Date.parse(plan.askedAt) + expiryMs,
    asked: plan.rules.map(({ name, need, proof, from }) => ({ name, need, proof, from, by: [] })),
    yeses: [],
    rejected: null,
    badAnswers: 0,
    proven: new Map(),
  };
}

export const isApproved = ({ asked }: OpenQuestion): boolean => asked.every(({ need, by }) => by.length >= need);

/** @param answer any JSON, because the UI can send it @returns why the answer is not even verified, or null */
export function problemOfAnswer(
  question: OpenQuestion | null,
  decision: Decided,
  answer: Partial<ApprovalAnswer> | null | undefined,
  nowMs: number,
): string | null {
  if (question === null || question.rejected !== null || isApproved(question)) return 'nothing is asked now';
  if (nowMs >= question.endsMs) return 'the question is over';
  if (question.badAnswers >= MAX_BAD_ANSWERS)
    return `there were ${MAX_BAD_ANSWERS} answers that do not count: cancel the run, and start it again`;
  const { plan, by, why } = answer ?? {};
  const isPlan = typeof plan === 'string' && plan.length >= PLAN_DIGITS && question.hash.startsWith(plan);
  if (!isPlan)
    return `this is not the plan that is asked about, which begins with ${question.hash.slice(0, PLAN_DIGITS)}`;
  if (!isLine(by)) return `by: ${NO_LINE}`;
  if (why !== null && !isLine(why)) return `why, the reason: ${NO_LINE}`;
  if (decision === 'reject' && why === null) return 'why: a rejection needs a reason';
  if (!isProof(answer?.proof)) return 'proof: must be a signature of SSH, a token of GitHub, or none';
  const hasApproved = question.yeses.some((yes) => yes.by === by);
  return decision === 'approve' && hasApproved ? `${by} has approved already: another person must approve` : null;
}

const NO_LINE = 'must be one line of 1 to 200 characters, without control characters or blanks around it';

const isLine = (text: unknown): text is string =>
  typeof text === 'string' && text !== '' && text.length <= MAX_TEXT && plainText(text) === text;

function isProof(proof: unknown): boolean {
  if (!isRecord(proof)) return false;
  const { kind, signature, token } = proof;
  if (kind === 'none') return true;
  const given = kind === 'ssh' ? signature : kind === 'github' ? token : undefined;
  return typeof given === 'string' && given.length <= MAX_PROOF;
}

/**
 * @param rules the rules that the answer counts for
 * @returns why it counts for nothing, or null
 */
export function countYes(
  question: OpenQuestion,
  yes: Yes,
  { rules, proven }: { rules: string[]; proven: string },
): string | null {
  const earlier = [...question.proven].map(([by, proof]) => ({ by, proof }));
  const countsFor = question.asked.filter(({ name, by, proof }) => {
    const given = earlier.filter((it) => by.includes(it.by));
    const another = { by: yes.by, proof: proof === 'none' ? NOT_PROVEN : proven };
    return rules.includes(name) && differentPeople([...given, another]).includes(another);
  });
  if (countsFor.length === 0) return `${proven} has approved already: another person has to, with another key`;
  question.yeses.push(question.asked.length > 1 ? { ...yes, rules: countsFor.map(({ name }) => name) } : yes);
  question.proven.set(yes.by, proven);
  for (const asked of countsFor) asked.by.push(yes.by);
  return null;
}

/** Counts one key as one person under any number of names, and one name as one person with any number of keys. */
export function differentPeople<T extends { by: string; proof: string }>(answers: readonly T[]): T[] {
  const counted: T[] = [];
  const isSame = (one: T, other: T) => one.by === other.by || (one.proof === other.proof && one.proof !== NOT_PROVEN);
  for (const answer of answers) {
    if (!counted.some((it) => isSame(it, answer))) counted.push(answer);
  }
  return counted;
}

/**
 * When the first approval expires, in milliseconds since 1970. Infinite if nothing had to be approved. Workers judge each
 * rule alone, before each request: an answer to one rule does not make the answers to another one last longer.
 */
export function goodUntilMs(approved: readonly Approved[]): number {
  const ends = approved.flatMap(({ plan: { rules }, yeses }) =>
    rules.map((rule) => {
      const counted = yeses.filter((yes) => yes.rules?.includes(rule.name) ?? true);
      return Math.max(...counted.map(({ at }) => Date.parse(at))) + rule.goodForMs;
    }),
  );
  return Math.min(Infinity, ...ends);
}

/** @returns why the approvals no longer count, or null */
export function noLongerGoodText(approved: readonly Approved[], nowMs: number): string | null {
  const untilMs = goodUntilMs(approved);
  if (nowMs < untilMs) return null;
  return `its approval was good until ${new Date(untilMs).toISOString()}: start it again`;
}

/* Decides which approvals a rollout asks for at its start, and which before one of its waves. Pure. */

interface WaveNeeds {
  wave: string;
  named?: string | undefined;
  needed: readonly string[];
}

interface AskedWhen {
  before: string[];
  ofWaves: { wave: string; name: string }[];
}

/**
 * A wave's own approval is not asked at the start, unless the rollout names it or other waves need it.
 *
 * @param named the approvals that the rollout names
 */
export function askedWhen(named: string | readonly string[] | undefined, waves: readonly WaveNeeds[]): AskedWhen {
  const names = [named ?? []].flat();
  const needed = waves.flatMap((wave) => wave.needed.filter((name) => name !== wave.named || names.includes(name)));
  return {
    before: [...new Set([...needed, ...names])],
    ofWaves: waves.flatMap(({ wave, named: name }) => (name === undefined ? [] : [{ wave, name }])),
  };
}

/* Lists what a run or rollout is about to do, server by server, as people approve it. Pure. */

/** @param wave null for all waves */
export function plannedParts({ waves }: Pick<RolloutInput, 'waves'>, wave: string | null): PlannedPart[] {
  const asked = waves.filter(({ name }) => wave === null || name === wave);
  return asked.flatMap(({ targets }) =>
    targets.map(({ serverId, ...left }) => ({ serverId, targets: targetsOf(left) })),
  );
}

export const plannedPartOf = ({ serverId, ...left }: RunInput): PlannedPart => ({
  serverId: serverId ?? null,
  targets: targetsOf(left),
});

/** Cuts the approval of a run down to one deployment, so that a request carries no other parts. */
export function approvedForTarget(approved: readonly Approved[]): (target: Target) => Approved[] {
  const all = approved.map((it) => ({ ...it, tree: it.part === undefined ? null : targetsTreeOf(it.part) }));
  return (target) =>
    all.map(({ part, tree, ...given }): Approved => {
      const index = part?.targets.findIndex((it) => isSameTarget(it, target)) ?? -1;
      const mine = part?.targets[index];
      if (part === undefined || tree === null || mine === undefined) return given;
      return { ...given, part: { ...part, targets: [mine], path: [...tree.pathTo(index), ...part.path] } };
    });
}

export const summaryOf = (parts: readonly PlannedPart[]): ApprovalPlan['parts'] => ({
  root: rootOf(parts),
  servers: parts.length,
  targets: parts.reduce((sum, { targets }) => sum + targets.length, 0),
});
