/** People approve a whole rollout before its first server, or a wave before the first server of that wave. */
import { factOf } from '../../contract/facts.ts';
import { ROLLOUT_TYPE } from '../../contract/names.ts';
import { definedFields } from '../../contract/plain-object.ts';
import type { WaitingForApproval } from '../../contract/waiting.ts';
import { conclude, type Conclusion } from '../../workflows/conclusion.ts';
import type { RolloutHook, RolloutState } from '../rollouts/hooks.ts';
import { noLongerGoodText, plannedParts, summaryOf } from './rules.ts';
import {
  APPROVALS_FACT,
  type ApprovalPlan,
  type ApprovalRule,
  type Approved,
  type HashTree,
  type PlannedPart,
  treeOf,
  type WaveRule,
} from './shapes.ts';
import { ask, concludeUnapproved, listenForAnswers, planOf, refusalOfAnswer } from './workflow.ts';

/** An approval, with the parts that its root hash is made of. */
interface ApprovedParts {
  approved: Approved;
  parts: PlannedPart[];
  tree: HashTree;
}

export function approvedServers(rollout: RolloutState): RolloutHook {
  const { input, facts, result } = rollout;
  const questions = listenForAnswers();
  /** The approvals that waves still need. */
  let waves: readonly WaveRule[] = [];
  /** By wave. Null for the whole rollout. */
  const given = new Map<string | null, ApprovedParts>();
  let waiting: WaitingForApproval | null = null;

  async function askPeople(wave: string | null, rules: ApprovalRule[]): Promise<ApprovedParts | Conclusion> {
    const parts = plannedParts(input, wave);
    const phase = result.phase ?? 'checking';
    rollout.setPhase('approval');
    const end = await ask(questions, result, {
      plan: planOfRollout(rollout, wave, parts, rules),
      parts,
      isOver: rollout.isOver,
      onChange(shown) {
        waiting = shown;
        rollout.refresh();
      },
      notify: facts.notify,
    });
    waiting = null;
    // A person may have paused or aborted the rollout meanwhile.
    if (result.phase === 'approval') rollout.setPhase(phase);
    else rollout.refresh();
    return end.kind === 'approved' ? { approved: end.approved, parts, tree: treeOf(parts) } : concludeUnapproved(end);
  }

  /** Does nothing if a person has aborted or cancelled the rollout meanwhile. */
  function stopUnapproved({ error }: Conclusion, by: string): void {
    if (result.phase === 'stopping' || error === null || error.type === 'Cancelled') return;
    rollout.stop(by, { outcome: 'not_started', type: error.type, reason: error.message });
  }

  const givenFor = (wave: string): ApprovedParts[] =>
    [given.get(null), given.get(wave)].filter((it) => it !== undefined);

  return {
    async begin() {
      const answer = factOf(facts, APPROVALS_FACT);
      const refused = refusalOfAnswer(answer);
      if (refused !== null || answer === undefined || 'error' in answer) return refused;
      waves = answer.waves ?? [];
      if (answer.rules.length === 0) return null;
      const asked = await askPeople(null, answer.rules);
      if ('approved' in asked) given.set(null, asked);
      // An abort by a person says more than the question that it ended.
      return 'approved' in asked || rollout.isOver() ? null : asked;
    },
    async mayStart({ wave, serverId }) {
      const rules = waves.filter((it) => it.wave === wave).map(({ rule }) => rule);
      // A reset may come before a server that was never started, so this asks after a reset, too.
      if (rules.length > 0 && !given.has(wave)) {
        const asked = await askPeople(wave, rules);
        if ('approved' in asked) given.set(wave, asked);
        else stopUnapproved(asked, `approval:${rules.map(({ name }) => name).join(',')}`);
        return false;
      }
      const approved = givenFor(wave).map((it) => it.approved);
      const expired = noLongerGoodText(approved, Date.now());
      if (expired === null) return true;
      stopUnapproved(conclude('not_started', 'ApprovalExpired', `server ${serverId}: ${expired}`), 'approval');
      return false;
    },
    /** With the path of the server's part to the root hash. */
    carries({ wave, serverId }) {
      const approved = givenFor(wave).flatMap(({ approved: whole, parts, tree }): Approved[] => {
        const index = parts.findIndex((it) => it.serverId === serverId);
        const part = parts[index];
        return part === undefined ? [] : [{ ...whole, part: { ...part, path: tree.pathTo(index) } }];
      });
      return approved.length === 0 ? {} : { approved };
    },
    waiting: () => (result.phase === 'approval' ? waiting : null),
    openPhase: () => (waiting === null ? null : 'approval'),
  };
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
        ...definedFields({ onGates, deploysUntil, options }),
      },
      commit: options?.commit ?? null,
      rules,
    },
    input,
  );
}
