/** Asks people to approve a rollout before its first server starts, and single waves before they start. */
import type { WorkerInfo } from '../../contract/activities.ts';
import {
  APPROVALS_FACT,
  type ApprovalPlan,
  type ApprovalRule,
  type Approved,
  type PlannedPart,
} from '../approvals/shapes.ts';
import { factOf } from '../../contract/facts.ts';
import { treeOf } from '../approvals/plan-hash.ts';
import { ROLLOUT_TYPE } from '../../contract/names.ts';
import { definedFields } from '../../contract/plain-object.ts';
import type { TargetResult } from './shapes.ts';
import { expiry } from '../approvals/rules.ts';
import { plannedParts, summaryOf } from '../approvals/planned-parts.ts';
import { ask } from '../approvals/workflow.ts';
import { concludeUnapproved, refuseUnasked } from '../approvals/conclude-unapproved.ts';
import { notifyOfApproval } from '../approvals/notify-of-approval.ts';
import { planOf } from '../approvals/plan.ts';
import { conclude, type Conclusion } from '../../workflows/conclusion.ts';
import type { BeforeServer } from './hooks.ts';
import type { ApprovedParts, RolloutState } from './state.ts';

type IsCancelled = () => boolean;

async function askBefore(
  rollout: RolloutState,
  facts: WorkerInfo,
  isCancelled: IsCancelled,
): Promise<Conclusion | null> {
  const answer = factOf(facts, APPROVALS_FACT);
  const refused = refuseUnasked(answer);
  if (refused !== null || answer === undefined || 'error' in answer) return refused;
  rollout.approved.waves = answer.waves ?? [];
  if (answer.rules.length === 0) return null;
  const asked = await askFor(rollout, null, answer.rules, isCancelled);
  if ('approved' in asked) rollout.approved.all = asked;
  // A person who aborts has decided, and says more than the question that is over.
  return 'approved' in asked || rollout.result.phase === 'stopping' || isCancelled() ? null : asked;
}

/** Asks before the first server of a wave. @returns whether the server may start: if not, ask for the next step */
async function isApproved(rollout: RolloutState, target: TargetResult, isCancelled: IsCancelled): Promise<boolean> {
  const { approved } = rollout;
  const rules = approved.waves.filter(({ wave }) => wave === target.wave).map(({ rule }) => rule);
  // Also after a reset, which may come before a server that was never started.
  if (rules.length > 0 && !approved.ofWaves.has(target.wave)) {
    const asked = await askFor(rollout, target.wave, rules, isCancelled);
    if ('approved' in asked) approved.ofWaves.set(target.wave, asked);
    else stop(rollout, asked, `approval:${rules.map(({ name }) => name).join(',')}`);
    return false;
  }
  const expired = expiry(
    partsFor(rollout, target.wave).map((it) => it.approved),
    Date.now(),
  );
  if (expired === null) return true;
  stop(rollout, conclude('not_started', 'ApprovalExpired', `server ${target.serverId}: ${expired}`), 'approval');
  return false;
}

/** Unless a person has aborted or cancelled it meanwhile. */
function stop(rollout: RolloutState, { error }: Conclusion, by: string): void {
  if (rollout.result.phase === 'stopping' || error === null || error.type === 'Cancelled') return;
  rollout.stop(by, { outcome: 'not_started', type: error.type, reason: error.message });
}

/** What was approved goes with the run of each server, and with it the way of its part to the root hash. */
export const approvedFor = (rollout: RolloutState, { serverId, wave }: TargetResult): Approved[] =>
  partsFor(rollout, wave).flatMap(({ approved, parts, tree }) => {
    const index = parts.findIndex((it) => it.serverId === serverId);
    const part = parts[index];
    return part === undefined ? [] : [{ ...approved, part: { ...part, path: tree.pathTo(index) } }];
  });

const partsFor = ({ approved: { all, ofWaves } }: RolloutState, wave: string): ApprovedParts[] =>
  [all, ofWaves.get(wave)].filter((it) => it !== null && it !== undefined);

async function askFor(
  rollout: RolloutState,
  wave: string | null,
  rules: ApprovalRule[],
  isCancelled: IsCancelled,
): Promise<ApprovedParts | Conclusion> {
  const { result } = rollout;
  const parts = plannedParts(rollout.input, wave);
  const phase = result.phase ?? 'checking';
  rollout.setPhase('approval');
  const end = await ask(rollout.approvals, result, {
    plan: planOfRollout(rollout, wave, parts, rules),
    parts,
    isOver: () => isCancelled() || result.phase === 'stopping',
    onChange: (waiting) => {
      rollout.asking = waiting;
      rollout.refresh();
    },
    notify: (about, question) => notifyOfApproval(rollout.notify, about, question, parts),
  });
  rollout.asking = null;
  // A person may have paused or aborted it meanwhile.
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
      ...{ serverId: null, wave },
      parts: summaryOf(parts),
      options: {
        ...{ maxAtOnce, maxFailures, onFailures },
        waves: input.waves.map(({ name, after, approval, targets }) => ({
          ...{ name, servers: targets.length },
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

/** People approve the whole rollout before its first server, or a wave before the first server of that. */
export const approvedServers: BeforeServer = { admit: askBefore, mayBegin: isApproved };
