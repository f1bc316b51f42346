/** Runs that are replaced although they have begun, and queues that keep those that are replaced. */
import { change, sim, type TestedMutant, unit } from './mutant.ts';

export const SUPERSEDING: TestedMutant[] = [
  {
    rule: 'a run that has sent its request is replaced',
    changes: [change('workflows/operation/deploy-site.ts', '      operation.cancellation.begin();\n', '')],
    test: sim('rules/locks/superseding', 'a run that has sent its request goes on'),
  },
  {
    rule: 'a run is replaced by one that covers only a part of it',
    changes: [change('features/superseding/rules.ts', 'part.targets.every(', 'part.targets.some(')],
    test: sim('rules/locks/superseding', 'a run of which the newer one covers only a part goes on'),
  },
  {
    rule: 'a run that makes its backup is not replaced',
    changes: [
      change(
        'features/superseding/hold.ts',
        'holder !== null && replacesHolder !== null',
        'holder !== null && replacesHolder === null',
      ),
    ],
    test: sim('rules/locks/superseding', 'a run that makes its backup is replaced'),
  },
  {
    rule: 'the newer run waits at the end of the queue',
    changes: [change('features/superseding/rules.ts', '[waiter.since, ...places].sort()[0]!', 'waiter.since')],
    test: unit('superseding', 'keeps the newest of those that replace each other'),
  },
  {
    rule: 'a run of a rollout is replaced',
    changes: [
      change(
        'features/superseding/hold.ts',
        'parent?.workflowId.startsWith(ROLLOUT_PREFIX) === true',
        'parent?.workflowId.startsWith("none") === true',
      ),
    ],
    test: sim('rules/locks/superseding-order', 'is not replaced'),
  },
];
