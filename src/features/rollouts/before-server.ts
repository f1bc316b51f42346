/**
 * What may keep a server of a rollout from starting: a freeze, a restore of Temporal's database, or a missing approval.
 * In a freeze, the rollout stops, or pauses and later resumes by itself. No server counts as failed because of this.
 */
import { patched } from '@temporalio/workflow';
import type { FrozenBy } from '../freezes/shapes.ts';
import { definedFields } from '../../contract/plain-object.ts';
import type { TargetResult } from './shapes.ts';
import { targetsInput } from '../../contract/target.ts';
import { frozenText, tooLongText } from '../freezes/text.ts';
import { heldPart } from '../freezes/rules.ts';
import { lastPause, RESTORED } from './rules.ts';
import { judgeFreezes } from '../../workflows/activity-proxies.ts';
import { awaitThaw, tooManyThaws, unlessOver } from '../freezes/hold.ts';
import { restoredSince } from '../../workflows/check-worker.ts';
import type { BeforeServer, IsCancelled } from './hooks.ts';
import type { RolloutState, Stop, ApprovedParts } from './state.ts';
import type { WorkerInfo } from '../../contract/activities.ts';
import {
  APPROVALS_FACT,
  type ApprovalPlan,
  type ApprovalRule,
  type Approved,
  type PlannedPart,
  treeOf,
} from '../approvals/shapes.ts';
import { factOf } from '../../contract/facts.ts';
import { ROLLOUT_TYPE } from '../../contract/names.ts';
import { noLongerGoodText, plannedParts, summaryOf } from '../approvals/rules.ts';
import { ask, concludeUnapproved, refusalOfAnswer, notifyOfApproval, planOf } from '../approvals/workflow.ts';
import { conclude, type Conclusion } from '../../workflows/conclusion.ts';

/** Waits for freezes if the rollout is to wait. @returns whether the server may start; if not, ask for the next step */
async function passesFreezes(rollout: RolloutState, target: TargetResult, isCancelled: IsCancelled): Promise<boolean> {
  const answer = await unlessOver(
    frozenNow(rollout, target),
    () => isCancelled() || rollout.result.phase === 'stopping',
  );
  if (answer === null || stopIfRestored(rollout, answer.epoch)) return false;
  const { by } = answer;
  if (by.length > 0) {
    if (!isNext(rollout, target) && patched('decided-beside-freeze')) return false;
    const ifFrozen = rollout.input.options?.ifFrozen ?? rollout.plan.ifFrozen;
    if (ifFrozen === 'fail') rollout.stop(authorOf(by), frozenStop(reasonOf(target, by)));
    else await pauseUntilThaw(rollout, target, by, isCancelled);
    return false;
  }
  return isNext(rollout, target) && !isCancelled();
}

/** A person may have decided while a worker looked. */
function isNext(rollout: RolloutState, target: TargetResult): boolean {
  const step = rollout.next();
  return step.kind === 'begin' && step.target === target;
}

/** Call this after each server, because its run may have met a freeze that began later. */
function stopIfFrozen(rollout: RolloutState, { serverId, error }: TargetResult): void {
  const { phase } = rollout.result;
  if (error?.type !== 'Frozen' || phase === 'stopping') return;
  rollout.stop('freeze', frozenStop(`server ${serverId}: ${error.message}`));
}

async function frozenNow({ input, letOff }: RolloutState, { serverId, deployments }: TargetResult) {
  const targets = deployments.filter(({ outcome }) => outcome === null).map(({ target }) => target);
  const keepGoing = input.options?.keepGoing ?? false;
  const planned = { ...targetsInput(targets), serverId, fleet: input.fleet, backsUp: true, keepGoing };
  const { frozen, epoch } = await judgeFreezes({ ...planned, letOff, atMs: Date.now() });
  return { by: heldPart(frozen, { serverId, targets }, keepGoing)?.by ?? [], epoch };
}

/** A restored rollout does not know that it started the server before. @returns whether it was restored */
function stopIfRestored(rollout: RolloutState, epoch: string): boolean {
  const restored = restoredSince(definedFields({ epoch: rollout.epoch ?? undefined }), { epoch });
  if (restored === null) return false;
  if (rollout.result.phase !== 'stopping') rollout.decide('stop', RESTORED, restored.error?.message ?? '');
  return true;
}

const reasonOf = ({ serverId }: TargetResult, by: readonly FrozenBy[]): string =>
  `server ${serverId}: ${frozenText(by)}`;

const frozenStop = (reason: string): Stop => ({ outcome: 'not_started', type: 'Frozen', reason });

/** Returns a name such as `freeze:christmas`. The names of ad-hoc freezes already have that form. */
function authorOf([first]: readonly FrozenBy[]): string {
  const { kind = 'freeze', name = '' } = first ?? {};
  return name.startsWith(`${kind}:`) ? name : `${kind}:${name}`;
}

async function pauseUntilThaw(
  rollout: RolloutState,
  target: TargetResult,
  first: FrozenBy[],
  isCancelled: IsCancelled,
): Promise<void> {
  const { thaws, result, plan, input } = rollout;
  const freezeWaitMs = input.options?.freezeWaitMs ?? plan.freezeWaitMs;
  const tooMany = tooManyThaws(thaws);
  if (tooMany !== null) return rollout.stop(authorOf(first), frozenStop(tooMany));
  rollout.decide('pause', authorOf(first), reasonOf(target, first));
  const pause = result.decisions.at(-1);
  const end = await awaitThaw(
    rollout,
    {
      look: async () => (await frozenNow(rollout, target)).by,
      freezeWaitMs,
      isOver: () => isCancelled() || result.phase !== 'paused' || pause !== lastPause(result.decisions),
      onLook: (waiting) => {
        rollout.waitingForThaw = waiting;
        rollout.refresh();
      },
    },
    first,
  );
  rollout.waitingForThaw = null;
  if (end.kind === 'free') rollout.decide('resume', authorOf(first), 'nothing is frozen any more');
  else if (end.kind === 'outlasts')
    rollout.stop(authorOf(end.by), frozenStop(`${reasonOf(target, end.by)}; ${tooLongText(freezeWaitMs)}`));
  rollout.refresh();
}

export const frozenServers: BeforeServer = { mayBegin: passesFreezes, ended: stopIfFrozen };

/* Asks people to approve a rollout before its first server starts, and single waves before they start. */

async function askForRollout(
  rollout: RolloutState,
  facts: WorkerInfo,
  isCancelled: IsCancelled,
): Promise<Conclusion | null> {
  const answer = factOf(facts, APPROVALS_FACT);
  const refused = refusalOfAnswer(answer);
  if (refused !== null || answer === undefined || 'error' in answer) return refused;
  rollout.approved.waves = answer.waves ?? [];
  if (answer.rules.length === 0) return null;
  const asked = await askPeople(rollout, null, answer.rules, isCancelled);
  if ('approved' in asked) rollout.approved.given.set(null, asked);
  // An abort by a person says more than the question that it ended.
  return 'approved' in asked || rollout.result.phase === 'stopping' || isCancelled() ? null : asked;
}

/** Asks before the first server of a wave. @returns whether the server may start; if not, ask for the next step */
async function passesApprovals(
  rollout: RolloutState,
  target: TargetResult,
  isCancelled: IsCancelled,
): Promise<boolean> {
  const { approved } = rollout;
  const rules = approved.waves.filter(({ wave }) => wave === target.wave).map(({ rule }) => rule);
  // A reset may come before a server that was never started, so this asks after a reset, too.
  if (rules.length > 0 && !approved.given.has(target.wave)) {
    const asked = await askPeople(rollout, target.wave, rules, isCancelled);
    if ('approved' in asked) approved.given.set(target.wave, asked);
    else stopUnapproved(rollout, asked, `approval:${rules.map(({ name }) => name).join(',')}`);
    return false;
  }
  const expired = noLongerGoodText(
    givenFor(rollout, target.wave).map((it) => it.approved),
    Date.now(),
  );
  if (expired === null) return true;
  stopUnapproved(
    rollout,
    conclude('not_started', 'ApprovalExpired', `server ${target.serverId}: ${expired}`),
    'approval',
  );
  return false;
}

/** Does nothing if a person has aborted or cancelled the rollout meanwhile. */
function stopUnapproved(rollout: RolloutState, { error }: Conclusion, by: string): void {
  if (rollout.result.phase === 'stopping' || error === null || error.type === 'Cancelled') return;
  rollout.stop(by, { outcome: 'not_started', type: error.type, reason: error.message });
}

/** The run of each server gets the approvals, with the path of its part to the root hash. */
export const approvedFor = (rollout: RolloutState, { serverId, wave }: TargetResult): Approved[] =>
  givenFor(rollout, wave).flatMap(({ approved, parts, tree }) => {
    const index = parts.findIndex((it) => it.serverId === serverId);
    const part = parts[index];
    return part === undefined ? [] : [{ ...approved, part: { ...part, path: tree.pathTo(index) } }];
  });

const givenFor = ({ approved: { given } }: RolloutState, wave: string): ApprovedParts[] =>
  [given.get(null), given.get(wave)].filter((it) => it !== undefined);

async function askPeople(
  rollout: RolloutState,
  wave: string | null,
  rules: ApprovalRule[],
  isCancelled: IsCancelled,
): Promise<ApprovedParts | Conclusion> {
  const { result } = rollout;
  const parts = plannedParts(rollout.input, wave);
  const phase = result.phase ?? 'checking';
  rollout.setPhase('approval');
  const end = await ask(rollout.questions, result, {
    plan: planOfRollout(rollout, wave, parts, rules),
    parts,
    isOver: () => isCancelled() || result.phase === 'stopping',
    onChange: (waiting) => {
      rollout.waitingForApproval = waiting;
      rollout.refresh();
    },
    notify: (about, question) => notifyOfApproval(rollout.notify, about, question, parts),
  });
  rollout.waitingForApproval = null;
  // A person may have paused or aborted the rollout meanwhile.
  if (result.phase === 'approval') rollout.setPhase(phase);
  else rollout.refresh();
  return end.kind === 'approved' ? { approved: end.approved, parts, tree: treeOf(parts) } : concludeUnapproved(end);
}

function planOfRollout(
  { input, result: { service } }: RolloutState,
  wave: string | null,
  parts: readonly PlannedPart[],
  rules: ApprovalRule[],
): ApprovalPlan {
  const { maxAtOnce, maxFailures, onFailures, onGates, deploysUntil, options } = input;
  return planOf(
    {
      service: service ?? '',
      type: ROLLOUT_TYPE,
      serverId: null,
      wave,
      parts: summaryOf(parts),
      options: {
        maxAtOnce,
        maxFailures,
        onFailures,
        waves: input.waves.map(({ name, after, approval, targets }) => ({
          name,
          servers: targets.length,
          ...definedFields({ after, approval }),
        })),
        ...definedFields({ onGates }),
        ...(deploysUntil === undefined ? {} : { deploysUntil }),
        ...(options === undefined ? {} : { options }),
      },
      commit: options?.commit ?? null,
      rules,
    },
    input,
  );
}

/** People approve the whole rollout before its first server, or a wave before the first server of that wave. */
export const approvedServers: BeforeServer = { admit: askForRollout, mayBegin: passesApprovals };
