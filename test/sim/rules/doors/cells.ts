/** The table of doors and rules: which cells have a test, and why the others cannot exist. */
import { DOOR_NAMES, DOORS, type Door, type DoorName } from './doors.ts';
import { RULE_NAMES, RULES, type Kind, type RuleName } from './rules.ts';

const ONLY_RUNS = 'A gate stands between the waves of a rollout, and this door leads to a single run.';
const NEW_DECISION =
  'A person or schedule asks again after the restore. The new attempt belongs to the epoch of the workers.';

const WHOLE =
  'A worker refuses the whole rollout before its first server, so there is nothing to resume. The run of each server asks again when it begins.';

const IN_THE_ACTIVITY =
  'Only a Temporal server resets an activity, so `test/integration/runs/reset-activities.test.ts` plays this door: the POST that is reset is sent no second time. A POST checks freezes, windows, approvals, the inventory, deadline, backup age, epoch and service in its activity, so every attempt would be judged. ' +
  'The workflow judges the other rules, and a reset of an activity does not take it back.';

/** Cells that cannot exist. */
const REASONS: Partial<Record<DoorName, Partial<Record<RuleName, string>>>> = {
  'reset of a run': { gate: ONLY_RUNS },
  retry: { epoch: NEW_DECISION },
  resume: { inventory: WHOLE },
  '--again': { gate: ONLY_RUNS, epoch: NEW_DECISION },
  supersede: { gate: ONLY_RUNS },
  trigger: { epoch: NEW_DECISION },
  'reset of an activity': Object.fromEntries(RULE_NAMES.map((it) => [it, IN_THE_ACTIVITY])),
};

export interface Cell {
  door: DoorName;
  rule: RuleName;
  /** Null if it cannot exist. */
  test: string | null;
  reason: string | null;
}

export const CELLS: readonly Cell[] = DOOR_NAMES.flatMap((door) =>
  RULE_NAMES.map((rule) => {
    const reason = REASONS[door]?.[rule] ?? null;
    return { door, rule, reason, test: reason === null ? `${door} × ${rule}` : null };
  }),
);

/** The cells that are played in virtual time. */
export const PLAYED = CELLS.flatMap(({ door, rule, test }) =>
  test === null || door === 'reset of an activity'
    ? []
    : kindsFor(DOORS[door], rule).map((kind, index) => ({
        test: index === 0 ? test : `${test}, of a ${kind}`,
        ...{ kind, door: DOORS[door], rule: RULES[rule] },
      })),
);

/** A gate holds rollouts only. */
function kindsFor({ kinds }: Door, rule: RuleName): readonly Kind[] {
  return rule === 'gate' ? kinds.filter((it) => it === 'rollout') : kinds;
}
