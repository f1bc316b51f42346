/** Deployments that no one approved, or approved as something else. */
import { change, sim, unit, type TestedMutant } from './mutant.ts';

const APPROVAL_TESTS = 'rules/runs/approvals';

export const APPROVALS: TestedMutant[] = [
  {
    rule: 'what is signed does not name the plan',
    changes: [change('features/approvals/text.ts', '...decided, hashLine(hash)', "...decided, 'plan: any'")],
    test: unit('approval-judge', 'does not count for a plan that only its hash tells apart'),
  },
  {
    rule: 'an answer may name any plan',
    changes: [
      change(
        'features/approvals/rules.ts',
        'plan.length >= PLAN_DIGITS && question.hash.startsWith(plan)',
        'plan.length > 0',
      ),
    ],
    test: sim(`${APPROVAL_TESTS}/refused-answers`, 'for another plan'),
  },
  {
    rule: 'an approval is judged only when it is given',
    changes: [change('activities/features.ts', '[freezePermit, approvalPermit]', '[freezePermit]')],
    test: sim(`${APPROVAL_TESTS}/at-the-request`, 'is not requested once its signer was taken out of the file'),
  },
  {
    rule: 'keys are counted instead of people',
    changes: [change('features/approvals/rules.ts', 'one.by === other.by || (one', '(one')],
    test: unit('approval-judge', 'needs different people, not different keys'),
  },
  {
    rule: 'one key counts twice',
    changes: [
      change(
        'features/approvals/rules.ts',
        'one.by === other.by || (one.proof === other.proof && one.proof !== NOT_PROVEN)',
        'one.by === other.by',
      ),
    ],
    test: unit('approval-judge', 'needs different keys, not only different names'),
  },
  {
    rule: 'a question takes answers after its end',
    changes: [change('features/approvals/rules.ts', 'nowMs >= question.endsMs', 'nowMs >= question.endsMs + 60_000')],
    test: sim(`${APPROVAL_TESTS}/last-moment`, 'counts and lets its run deploy, or does neither'),
  },
  {
    rule: 'a receipt is good with too few approvals',
    changes: [
      change(
        'features/approvals/actions-receipts.ts',
        'if (requested.length > 0) requireEnough(approved, proofs);',
        '',
      ),
    ],
    test: unit('receipts', 'with too few approvals is good only if nothing was requested'),
  },
  {
    rule: 'a receipt is good although its rollout began a wave that was rejected',
    changes: [
      change('features/approvals/actions-receipts.ts', "if (it.what === 'run') return runIn(it, servers);", ''),
    ],
    test: unit('rollout-receipts', 'is not good with'),
  },
  {
    rule: 'a backup is made before the approval',
    changes: [
      change(
        'features/approvals/workflow.ts',
        "await run.during('approval', () => askPeople(rules))",
        'null as Conclusion | null',
      ),
    ],
    test: sim(`${APPROVAL_TESTS}/asked-first`, 'asks before its backup and holds nothing'),
  },
];
