/** Shows what would be held back now. Workers judge by their own belay.yaml; this command reads that of its machine. */
import type { FrozenBy, LetOff } from './shapes.ts';
import { BelayError } from '../../contract/errors.ts';
import { frozenText } from './text.ts';
import { TIMING } from '../../contract/timing.ts';
import { planRun } from '../../request/run-options.ts';
import { createJudge, type FindFreezes, type Judge } from './worker.ts';
import { operationsOf, targetText, type PlannedOperation } from '../../contract/target.ts';
import type { Belay } from '../../starter.ts';
import type { Part, Planned } from '../../cli/planned.ts';

/** Above this number, one search costs Temporal less than a question for each id. */
const MAX_ASKED = 100;

interface FrozenPart {
  what: string;
  by: FrozenBy[];
}

export const freezesPart: Part = {
  name: 'freezes',
  async look(planned, { belay, policy }) {
    const judge = createJudge(() => Promise.resolve(policy), findIn(belay));
    const operations = planned.runs.flatMap(operationsOf);
    const letOff = await letOffBy(planned, judge);
    const frozenAt = await judge.look({ operations, letOff }, TIMING.client.startMs);
    const nowMs = Date.now();
    const frozen = operations
      .map((it): FrozenPart => ({ what: textOf(it), by: frozenAt(it, nowMs) }))
      .filter(({ by }) => by.length > 0);
    const { ifFrozen = 'fail' } = planRun(planned.options);
    return {
      value: { frozen, letOff, ifFrozen },
      lines: [
        ...letOff.map(({ kind, name }) => `let off: the ${kind} "${name}"`),
        ...(frozen.length === 0 ? ['freezes: none holds it back now'] : []),
        ...frozen.map(({ what, by }) => `freezes: ${what}: ${frozenText(by)}`),
        ...(frozen.length > 0 ? [ifFrozen === 'wait' ? 'it would wait' : 'it would end with Frozen, exit code 5'] : []),
      ],
    };
  },
};

const findIn =
  ({ freezes }: Belay): FindFreezes =>
  async (ids) => {
    if (ids.length <= MAX_ASKED) return freezes.find(ids);
    const running = await freezes.list();
    return running.filter(({ workflowId }) => ids.includes(workflowId));
  };

async function letOffBy({ override }: Planned, judge: Judge): Promise<LetOff[]> {
  if (override === undefined) return [];
  const answer = await judge.override(override.freezes, TIMING.client.startMs);
  if ('error' in answer) throw new BelayError(answer.error.type, answer.error.message);
  return answer.letOff;
}

const textOf = (operation: PlannedOperation): string =>
  'target' in operation ? `deployment of ${targetText(operation.target)}` : `backup of server ${operation.serverId}`;
