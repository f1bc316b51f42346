/** What a receipt says about a rollout: what was decided about it, and the receipt of each of its runs. Pure. */
import { ROLLOUT_TYPE } from '../../contract/names.ts';
import type { Receipt } from './shapes.ts';
import type { RolloutInput, RolloutResult, TargetResult } from '../rollouts/shapes.ts';
import { answerEntries, heldEntries, type Answered } from './answer-entries.ts';
import type { Unchained } from './chain.ts';

interface KnownOfRollout {
  namespace: string;
  input: RolloutInput | null;
  result: RolloutResult;
  answered: readonly Answered[];
  /** Each with the hash of the receipt of its run; null if that has none. */
  targets: readonly (TargetResult & { receipt: string | null })[];
}

export function rolloutEntries(
  { workflowId, runId }: Pick<Receipt, 'workflowId' | 'runId'>,
  { namespace, input, result, answered, targets }: KnownOfRollout,
): Unchained[] {
  const { service, attempt, held, decisions, outcome, error, startedAt, endedAt } = result;
  return [
    {
      what: 'request',
      at: startedAt,
      facts: { namespace, workflowId, runId, type: ROLLOUT_TYPE, service, attempt, input },
    },
    ...heldEntries(held),
    ...answered.flatMap(answerEntries),
    ...decisions.map((it): Unchained => ({ what: 'decision', at: it.at, facts: { ...it } })),
    ...targets.map((it): Unchained => ({ what: 'run', at: it.endedAt, facts: { ...it } })),
    { what: 'end', at: endedAt, facts: { outcome, error } },
  ];
}
