/**
 * Judges approvals with this worker's belay.yaml and signers: what to ask for, which answers count, and what may be
 * sent.
 */
import { ApplicationFailure } from '@temporalio/common';
import { ApprovalError } from './proof-ssh.ts';
import {
  type ApprovalCheck,
  type ApprovalRule,
  type Approved,
  type CheckedApproval,
  type RulesAnswer,
  isPartOf,
  APPROVALS_FACT,
  type WaveRule,
} from './shapes.ts';
import type { LetOff } from '../freezes/shapes.ts';
import type { RunError, RunInput } from '../../contract/run.ts';
import {
  deploymentsOf,
  isSameTarget,
  type PlannedDeployment,
  type PlannedOperation,
  targetsOf,
} from '../../contract/target.ts';
import { NOT_PROVEN } from './text.ts';
import { plainText, messageOf } from '../../contract/safe-text.ts';
import { differentPeople, askedWhen } from './rules.ts';
import {
  type PolicyApproval,
  createProofDeps,
  proverOf,
  whyUnanswerable,
  type ProofDeps,
  type Proven,
} from './worker-proofs.ts';
import type { CurrentPolicy } from '../../config/live-policy.ts';
import { ROLLOUT_TYPE } from '../../contract/names.ts';
import type { RolloutInput } from '../rollouts/shapes.ts';
import type { Execution } from '../../contract/operation.ts';
import type { Asked, Fact, Known } from '../../activities/fact.ts';
import { triggerFailure } from '../../activities/failures.ts';
import type { Permit } from '../../activities/post-checks.ts';

interface ApprovedDeployment extends PlannedDeployment {
  service: string;
  /** Freezes and windows that an override exempts it from. */
  letOff?: readonly LetOff[] | undefined;
  approved?: Approved[] | undefined;
}

/** An approval of one rule, as this worker's own rule judges it. */
interface Judged {
  approved: Approved;
  rule: ApprovalRule;
  own: ApprovalRule;
  /** One for each approval that was given. */
  proofs: Proven[];
}

export type ApprovalJudge = ReturnType<typeof createApprovalJudge>;

export function createApprovalJudge(policy: CurrentPolicy, deps: ProofDeps = createProofDeps()) {
  return {
    /**
     * Returns the approvals that these operations need, and those that the run names.
     *
     * @throws Error if this worker cannot read its signers, but another one may
     */
    async rulesFor(
      operations: readonly PlannedOperation[],
      named: string | readonly string[] | undefined,
    ): Promise<RulesAnswer> {
      const { approvalsFor, approval } = await policy();
      const all = new Set(operations.flatMap(approvalsFor));
      for (const name of [named ?? []].flat()) {
        const asked = approval(name);
        if (asked === null) return { error: { type: 'Refused', message: unknownName(name) } };
        all.add(asked);
      }
      for (const it of all) {
        const problem = await whyUnanswerable(it, deps.readText);
        if (problem !== null) return { error: { type: 'Refused', message: problem } };
      }
      return { rules: [...all].map(({ rule }) => rule) };
    },
    /** @throws Error if this worker cannot tell, but another one may */
    async check(answer: ApprovalCheck): Promise<CheckedApproval | { problem: string }> {
      const { approval } = await policy();
      const problems: string[] = [];
      const counted: CheckedApproval = { rules: [], proven: '' };
      for (const { name } of answer.plan.rules) {
        const prove = await proverOf(required(approval(name), name), deps);
        const proven = provenAt(await prove(answer), answer.atMs, problems);
        if (proven === null) continue;
        if (counted.proven === '' || proven !== NOT_PROVEN) counted.proven = proven;
        counted.rules.push(name);
      }
      return counted.rules.length > 0 ? counted : { problem: problems.join('; ') };
    },
    /**
     * @param startedBy the workflows that led to the request, by Temporal's record, so that no approval counts for
     * another run or a later execution; null before there is a request
     * @returns a function that says why the request is not sent at a time, or null
     * @throws Error if this worker cannot tell, but another one may
     */
    async look(
      { approved = [], ...deployment }: ApprovedDeployment,
      startedBy: (() => Promise<Execution[]>) | null,
    ): Promise<(atMs: number) => RunError | null> {
      const { approvalsFor, approval } = await policy();
      const judged: Judged[] = [];
      for (const it of approved) {
        for (const rule of it.plan.rules) {
          const mine = required(approval(rule.name), rule.name);
          const prove = await proverOf(mine, deps);
          const given = it.yeses.map((yes) =>
            prove({ ...yes, plan: it.plan, decision: 'approve', atMs: Date.parse(yes.at) }),
          );
          judged.push({ approved: it, rule, own: mine.rule, proofs: await Promise.all(given) });
        }
      }
      const needed = approvalsFor(deployment).map(({ rule }) => rule.name);
      const unasked = needed.find((name) => !judged.some(({ rule }) => rule.name === name));
      if (unasked !== undefined) return () => ({ type: 'Refused', message: notAsked(unasked) });
      const ancestors = approved.length === 0 ? [] : ((await startedBy?.()) ?? null);
      const foreign = approved.find((it) => !covers(it, deployment) || !isFor(it, ancestors));
      if (foreign !== undefined) return () => ({ type: 'Refused', message: notCovered(foreign, deployment) });
      return (atMs) => judged.map((it) => problemOf(it, atMs)).find((it) => it !== null) ?? null;
    },
  };
}

/** @param problems receives why nothing is proven @returns null if nothing is proven */
function provenAt(proof: Proven, atMs: number, problems: string[]): string | null {
  try {
    return proof(atMs);
  } catch (error) {
    if (!(error instanceof ApprovalError)) throw error;
    problems.push(error.message);
    return null;
  }
}

/** While a change of belay.yaml spreads, another worker may have the approval. */
function required(approval: PolicyApproval | null, name: string): PolicyApproval {
  if (approval !== null) return approval;
  throw new Error(`this worker's belay.yaml has no approval ${plainText(name)}`);
}

const unknownName = (name: string): string =>
  `the worker's belay.yaml has no approval "${plainText(name)}": correct --approval, or add it under approvals`;

const notAsked = (name: string): string =>
  `it needs the approval ${name}, which was not asked for when its run began: start it again`;

const notCovered = ({ plan }: Approved, { target }: ApprovedDeployment): string =>
  `what was approved for ${plainText(plan.workflowId)} is not the deployment of ${target.kind} ${plainText(target.id)}`;

/** An approval counts only for the workflows that led to the request. */
const isFor = ({ plan }: Approved, ancestors: readonly Execution[] | null): boolean =>
  ancestors === null ||
  ancestors.some(({ workflowId, runId }) => workflowId === plan.workflowId && runId === plan.executionId);

/** The plan has to contain this deployment, and every override that the deployment claims. */
function covers({ plan, part }: Approved, { target, serverId, service, letOff = [] }: ApprovedDeployment): boolean {
  if (plan.service !== service || part === undefined || part.serverId !== (serverId ?? null)) return false;
  const isLetOff = letOff.every(({ name }) => plan.override?.freezes.includes(name) === true);
  const isIncluded = part.targets.some((it) => isSameTarget(it, target));
  return isLetOff && isIncluded && isPartOf(plan.parts.root, part, part.path);
}

/**
 * This worker's own rule decides who counts, how many are needed and for how long. A plan made elsewhere cannot weaken
 * it.
 */
function problemOf({ approved: { plan, yeses }, rule, own, proofs }: Judged, atMs: number): RunError | null {
  const askedMs = Date.parse(plan.askedAt);
  const untilMs = askedMs + Math.min(own.expiryMs, rule.expiryMs);
  const problems: string[] = [];
  const proven = yeses.flatMap(({ by, at }, index) => {
    const yesMs = Date.parse(at);
    if (!(yesMs >= askedMs && yesMs <= untilMs)) return [];
    const proof = provenAt(proofs[index]!, atMs, problems);
    return proof === null ? [] : [{ by, proof, atMs: yesMs }];
  });
  const wanted = Math.max(own.need, rule.need);
  const counted = differentPeople(proven);
  if (counted.length < wanted) {
    const why = problems.length === 0 ? '' : `: ${problems.join('; ')}`;
    const message = `only ${counted.length} of ${wanted} approvals (${rule.name}) count now${why}: start it again`;
    return { type: 'Refused', message };
  }
  const goodUntilMs = Math.max(...counted.map((it) => it.atMs)) + Math.min(own.goodForMs, rule.goodForMs);
  if (atMs < goodUntilMs) return null;
  const until = new Date(goodUntilMs).toISOString();
  return { type: 'ApprovalExpired', message: `the approval ${rule.name} was good until ${until}: start it again` };
}

/** Answered only if someone has to approve. Fails if this worker cannot tell, but another one may. */
export const approvalsFact: Fact<RulesAnswer> = {
  ...APPROVALS_FACT,
  ask: (asked, known) =>
    answerTo(asked, known).catch((error: unknown) => {
      throw ApplicationFailure.create({ type: 'Approvals', message: messageOf(error) });
    }),
};

async function answerTo({ request, begins, atMs }: Asked, { workerInfo, approvals }: Known) {
  if (request.type === ROLLOUT_TYPE) return unlessNone(await rolloutRules(request.input as RolloutInput, approvals));
  if (!begins || request.type === 'watchDeployment') return undefined;
  const input = request.input as RunInput;
  if (targetsOf(input).length === 0) return undefined;
  if (input.approved !== undefined) return refuseUncovered(input, workerInfo.service, approvals, atMs);
  return unlessNone(await approvals.rulesFor(deploymentsOf(input), input.approval));
}

function unlessNone(answer: RulesAnswer): RulesAnswer | undefined {
  const isNone = 'rules' in answer && answer.rules.length === 0 && (answer.waves ?? []).length === 0;
  return isNone ? undefined : answer;
}

/** Judges by Temporal's clock, for the first and the last moment at which the request may leave. */
export const approvalPermit: Permit = async (input, { approvals, startedBy, activity }) => {
  // A backup alone needs no approval.
  if (!('target' in input)) return () => null;
  const approvedAt = await approvals
    .look(input, () => startedBy(activity))
    .catch((error: unknown) => {
      const why = plainText(messageOf(error));
      throw triggerFailure('Resting', `not sent: this worker cannot verify the approval (${why})`);
    });
  return (atMs) => {
    const problem = approvedAt(atMs);
    if (problem === null) return null;
    const type = problem.type === 'ApprovalExpired' ? 'ApprovalExpired' : 'NotApproved';
    return triggerFailure(type, `not sent: ${plainText(problem.message, MAX_REASON)}`);
  };
};

const MAX_REASON = 400;

async function rolloutRules({ fleet, waves, approval }: RolloutInput, approvals: ApprovalJudge): Promise<RulesAnswer> {
  const rules = new Map<string, ApprovalRule>();
  const needs: Parameters<typeof askedWhen>[1][number][] = [];
  for (const { name: wave, approval: named, targets } of waves) {
    const ofServers = await approvals.rulesFor(
      targets.flatMap((it) => deploymentsOf({ ...it, fleet })),
      approval,
    );
    if ('error' in ofServers) return ofServers;
    const ofWave = await approvals.rulesFor([], named);
    if ('error' in ofWave) return ofWave;
    for (const rule of [...ofServers.rules, ...ofWave.rules]) rules.set(rule.name, rule);
    needs.push({ wave, named, needed: ofServers.rules.map(({ name }) => name) });
  }
  const { before, ofWaves } = askedWhen(approval, needs);
  const asked = ofWaves.map(({ wave, name }): WaveRule => ({ wave, rule: rules.get(name)! }));
  return { rules: before.map((name) => rules.get(name)!), ...(asked.length === 0 ? {} : { waves: asked }) };
}

/** What was approved for a rollout has to cover each run that it starts. */
async function refuseUncovered(
  input: RunInput,
  service: string,
  approvals: ApprovalJudge,
  atMs: number,
): Promise<RulesAnswer | undefined> {
  const { approved } = input;
  for (const deployment of deploymentsOf(input)) {
    const approvedAt = await approvals.look({ ...deployment, service, approved }, null);
    const error = approvedAt(atMs);
    if (error !== null) return { error };
  }
  return undefined;
}

export const createApprovalActivities = ({ approvals }: { approvals: ApprovalJudge }) => ({
  /**
   * Verifies an answer to a question with this worker's signers.
   *
   * @throws ApplicationFailure that is not retried if the answer does not count
   */
  checkApproval: async (check: ApprovalCheck): Promise<CheckedApproval> => {
    const checked = await approvals.check(check);
    if ('rules' in checked) return checked;
    throw ApplicationFailure.create({ type: 'Usage', message: plainText(checked.problem, 400), nonRetryable: true });
  },
});
