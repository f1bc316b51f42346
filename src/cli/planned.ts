/** What a dry run is about, and what a part of its answer is. */
import type { FreezeOverride } from '../features/freezes/shapes.ts';
import type { CheckWaiver } from '../features/site-checks/shapes.ts';
import type { RunType } from '../contract/names.ts';
import type { RolloutInput } from '../features/rollouts/shapes.ts';
import type { RunInput } from '../contract/run.ts';
import { targetsOf, type RunParts, type Target } from '../contract/target.ts';
import { startProblem } from '../request/input/start-request.ts';
import type { Policy } from '../config/policy.ts';
import { validateRolloutInput } from '../request/input/rollout-input.ts';
import type { Belay } from '../starter.ts';

/** One run: that of a single run, or of one server of a rollout. */
interface PlannedRun extends RunParts {
  targets: Target[];
  /** Null for a single run. */
  wave: string | null;
}

export interface Planned {
  problem: string | null;
  runs: PlannedRun[];
  options: RunInput;
  rollout: Omit<RolloutInput, 'key'> | null;
  override: FreezeOverride | undefined;
  noCheck: CheckWaiver | undefined;
}

interface PartContext {
  belay: Belay;
  /** Of the belay.yaml of this machine. */
  policy: Policy;
  /** The service that the command line names. */
  named: string | undefined;
}

interface Shown {
  /** For --json. */
  value: unknown;
  lines: string[];
}

export interface DryRunPart {
  /** Its field in the JSON document. */
  name: string;
  look: (planned: Planned, context: PartContext) => Promise<Shown>;
}

export function plannedRun(type: RunType, input: RunInput, key: string | undefined): Planned {
  return {
    problem: startProblem(type, input, key),
    runs: [{ serverId: input.serverId, targets: targetsOf(input), wave: null }],
    options: input,
    rollout: null,
    override: input.override,
    noCheck: input.noCheck,
  };
}

export function plannedRollout(input: Omit<RolloutInput, 'key'>, key = 'any'): Planned {
  const runs = input.waves.flatMap(({ name, targets }) =>
    targets.map((it) => ({ serverId: it.serverId, fleet: input.fleet, targets: targetsOf(it), wave: name })),
  );
  const { override, noCheck, options = {} } = input;
  return { problem: validateRolloutInput({ ...input, key }), runs, options, rollout: input, override, noCheck };
}
