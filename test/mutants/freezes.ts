/** Requests that are sent in a freeze, and waits for its end that hold something or end too late. */
import { change, sim, type TestedMutant } from './mutant.ts';

const FREEZE_TESTS = 'rules/runs/freezes';

export const FREEZES: TestedMutant[] = [
  {
    rule: 'freezes are judged only at the start',
    changes: [change('activities/features.ts', '[freezePermit, approvalPermit]', '[approvalPermit]')],
    test: sim(`${FREEZE_TESTS}/in-file`, 'a freeze that begins while the backup is made stops the deployment'),
  },
  {
    rule: 'a run that is held back makes its backup first',
    changes: [
      change(
        'features/freezes/hold.ts',
        'if (heldIn(whole, frozen) === null || !waits) return null;',
        'if (heldIn(whole, frozen) !== null || !waits) return null;',
      ),
    ],
    test: sim(`${FREEZE_TESTS}/waits-for-thaw`, 'waits before its backup'),
  },
  {
    rule: 'a run that waited uses a backup of any age',
    changes: [
      change(
        'workflows/run/backup-step.ts',
        'return ageMs <= Math.min(freshMs',
        'return ageMs <= Math.min(1_000 * freshMs',
      ),
    ],
    test: sim(`${FREEZE_TESTS}/after-thaw`, 'makes a new backup after a long freeze'),
  },
  {
    rule: 'an override lets off every ad-hoc freeze of the same scope',
    changes: [
      change('features/freezes/worker.ts', 'name === workflowId && since === freeze.since', 'name === workflowId'),
    ],
    test: sim(
      `${FREEZE_TESTS}/overrides`,
      'is held back by an ad-hoc freeze of the same scope that a person sets later',
    ),
  },
  {
    rule: 'a run overrides a freeze that forbids it',
    changes: [change('features/freezes/worker.ts', "known.override === 'never'", "known.override === 'reason'")],
    test: sim(`${FREEZE_TESTS}/overrides`, 'begins nothing if it is'),
  },
  {
    rule: 'a rollout begins the next server in a freeze',
    changes: [change('features/freezes/rollout.ts', 'if (by.length === 0) return', 'if (by.length >= 0) return')],
    test: sim('rules/rollouts/frozen-rollouts', 'starts no more servers, ends Frozen'),
  },
  {
    rule: "a rollout resumes over a person's pause",
    changes: [
      change(
        'features/freezes/rollout.ts',
        " || result.phase !== 'paused' || pause !== rollout.lastPause()",
        " || result.phase !== 'paused'",
      ),
    ],
    test: sim('rules/rollouts/frozen-rollouts', 'that a person pauses meanwhile stays paused after the end'),
  },
];
