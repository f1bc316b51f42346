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
    rule: 'a gate ends what a person has paused',
    changes: [change('features/gates/wave.ts', 'if (isPausedByOthers(gating)) {', 'if (false) {')],
    test: sim('rules/rollouts/gates-meanwhile', 'ends it only after the person has resumed it'),
  },
  {
    rule: 'a held server spares its wave the gates',
    changes: [change('features/rollouts/workflow.ts', 'if (held.length === 0) return', 'if (true) return')],
    test: sim(
      'rules/rollouts/gates-meanwhile',
      'is judged although a held server is all that is left of the last wave',
    ),
  },
  {
    rule: 'the release of a held server forgives failures',
    changes: [change('features/rollouts/state.ts', '    return;\n  }\n  rollout.accepted', '  }\n  rollout.accepted')],
    test: sim('rules/rollouts/held-servers', 'counts the failures on when its last held server is released'),
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
