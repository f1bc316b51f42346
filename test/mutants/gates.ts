/** Waves that start although what was measured does not allow it. */
import { change, sim, unit, type TestedMutant } from './mutant.ts';

export const GATES: TestedMutant[] = [
  {
    rule: 'no data counts as good',
    changes: [
      change(
        'features/gates/rules.ts',
        "state.goodInARow + (kind === 'good' ? 1 : 0)",
        "state.goodInARow + (kind === 'good' || kind === 'none' ? 1 : 0)",
      ),
    ],
    test: sim('rules/rollouts/doubtful-gates', 'ends the rollout once its patience is over, and no one can tell'),
  },
  {
    rule: 'an inconclusive gate resumes what a person has paused',
    changes: [change('features/gates/wave.ts', '(pause === null || pause !== rollout.lastPause())', 'pause === null')],
    test: sim('rules/rollouts/doubtful-gates', 'does not resume a rollout that a person has paused meanwhile'),
  },
  {
    rule: 'the resume of another pause lets a gate off',
    changes: [
      change(
        'features/gates/wave.ts',
        'if (gating.pause !== null && gating.pause === rollout.lastPause())',
        'if (rollout.lastPause() !== undefined)',
      ),
    ],
    test: sim('rules/rollouts/doubtful-gates', 'is not let off by the resume of a pause that stood before its doubt'),
  },
  {
    rule: 'a retry forgets the gates that did not pass',
    changes: [change('features/rollouts/client.ts', ' || (after !== undefined && !passedWaves.includes(name));', ';')],
    test: sim('rules/rollouts/gates-meanwhile', 'that failed and fails again ends it with GateFailed'),
  },
  {
    rule: 'a name is put into a query as it is',
    changes: [
      change(
        'features/gates/worker-measure.ts',
        'escapeForString(escapeForExpression(text), part.quote)',
        'escapeForExpression(text)',
      ),
    ],
    test: unit('gates', 'contains a name as text only'),
  },
];
