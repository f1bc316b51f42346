/** `--dry-run`: shows what a run or rollout would do and what would keep it from that, and starts nothing. */
import { readConfiguration } from '../config/load.ts';
import { definedFields } from '../contract/plain-object.ts';
import { policyOf, type Policy } from '../config/policy.ts';
import { BelayError, EXIT } from '../contract/errors.ts';
import { printAnswer } from '../process/json-document.ts';
import { withBelay } from './open-belay.ts';
import { approvalsPart } from '../features/approvals/actions.ts';
import { checksPart } from '../features/site-checks/dry-run.ts';
import { etaPart } from '../features/advice/dry-run.ts';
import { freezesPart } from '../features/freezes/actions.ts';
import { counted } from '../contract/results.ts';
import {
  operationsOf,
  targetsOf,
  targetText,
  type PlannedOperation,
  type RunParts,
  type Target,
} from '../contract/target.ts';
import { planRun } from '../request/run-options.ts';
import { triesFact } from '../request/run-details.ts';
import { operationIdOf } from '../contract/ids.ts';
import type { RunType } from '../contract/names.ts';
import type { RunInput } from '../contract/run.ts';
import type { WaveAfter } from '../features/gates/shapes.ts';
import { durationText } from '../contract/duration.ts';
import type { RolloutInput } from '../features/rollouts/shapes.ts';
import { startProblem } from '../request/input/start-request.ts';
import { validateRolloutInput } from '../request/input/rollout-input.ts';
import type { Belay } from '../starter.ts';

/* What a dry run is about, and what a part of its answer is. */

/** One run: that of a single run, or of one server of a rollout. */
interface PlannedRun extends RunParts {
  targets: Target[];
  /** Null for a single run. */
  wave: string | null;
}

export interface Planned {
  problem: string | null;
  runs: PlannedRun[];
  /** Those of each run, and what it is exempted from. */
  options: RunInput;
  rollout: Omit<RolloutInput, 'key'> | null;
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
  };
}

export function plannedRollout(input: Omit<RolloutInput, 'key'>, key = 'any'): Planned {
  const runs = input.waves.flatMap(({ name, targets }) =>
    targets.map((it) => ({ serverId: it.serverId, fleet: input.fleet, targets: targetsOf(it), wave: name })),
  );
  const { override, noCheck } = input;
  const options = { ...input.options, ...definedFields({ override, noCheck }) };
  return { problem: validateRolloutInput({ ...input, key }), runs, options, rollout: input };
}

/* Which of its locks are held now, and by whom. */

const locksPart: DryRunPart = {
  name: 'locks',
  async look({ runs, options }, { belay }) {
    const held = await belay.heldLocks(runs.flatMap(operationsOf).map(operationIdOf));
    const { ifBusy } = planRun(options);
    return {
      value: { held, ifBusy },
      lines: [
        ...(held.length === 0 ? ['locks: none is held'] : []),
        ...held.map(({ lockId, lockedBy }) => `locks: ${lockId} is held by ${lockedBy ?? 'an unknown run'}`),
      ],
    };
  },
};

/* What would be done, in its order, and with which options. */

const planPart: DryRunPart = {
  name: 'plan',
  look(planned) {
    const options = planRun(planned.options);
    const runs = planned.runs.map(({ serverId = null, ...run }) => ({ ...run, serverId }));
    const value = { runs, options, rollout: rolloutFacts(planned) };
    const backups = planned.runs.some(({ serverId }) => serverId !== undefined);
    return Promise.resolve({
      value,
      lines: [
        ...(planned.rollout === null ? planned.runs.flatMap(operationsOf).map(stepText) : wavesOf(planned)),
        ...(backups ? [`each backup: ${triesFact(options.backup)}`] : []),
        ...(planned.runs.some(({ targets }) => targets.length > 0)
          ? [`each deployment: ${triesFact(options.deploy)}, evidence at least ${options.deploy.minEvidence}`]
          : []),
      ],
    });
  },
};

function rolloutFacts({ rollout }: Planned) {
  if (rollout === null) return null;
  const { name, fleet, maxAtOnce, maxFailures, onFailures } = rollout;
  return { name, fleet, maxAtOnce, maxFailures, onFailures };
}

const stepText = (it: PlannedOperation, index: number): string =>
  `${index + 1}. ${'target' in it ? `deploy ${targetText(it.target)}` : `back up server ${it.serverId}`}`;

function wavesOf({ rollout, runs }: Planned): string[] {
  const { maxAtOnce = 1, maxFailures = 0, onFailures = 'stop' } = rollout ?? {};
  return [
    ...runs.map(({ wave, serverId, targets }) => {
      const deployed = targets.map((it) => targetText(it)).join(', ');
      return `wave ${wave}: server ${serverId}${deployed === '' ? ': only a backup' : `: ${deployed}`}`;
    }),
    ...(rollout?.waves ?? []).flatMap(({ name, after }) =>
      after === undefined ? [] : [`after wave ${name}: ${followsText(after)}`],
    ),
    `at most ${counted(maxAtOnce, 'server')} at once; after more than ${counted(maxFailures, 'failure')}: ${onFailures}`,
  ];
}

function followsText({ bakeMs, gates = [] }: WaveAfter): string {
  const bakes = bakeMs === undefined ? [] : [`bakes ${durationText(bakeMs)}`];
  return [...bakes, ...gates.map((gate) => `gate ${gate}`)].join(', then ');
}

/* Which service it would be for. */

const servicePart: DryRunPart = {
  name: 'service',
  async look(_planned, { belay, named }) {
    const service = named ?? (await belay.findService());
    return { value: service, lines: [`service: ${service ?? 'unknown: nothing names one and no worker polls'}`] };
  },
};

/** In the order in which they are shown. Each answers one question about the plan. */
const PARTS: readonly DryRunPart[] = [
  planPart,
  servicePart,
  freezesPart,
  approvalsPart,
  locksPart,
  checksPart,
  etaPart,
];

export async function dryRun(
  planned: Planned,
  { json: asJson, service }: { json?: boolean; service?: string },
): Promise<number> {
  if (planned.problem !== null) throw new BelayError('Usage', planned.problem);
  const policy = policyOf(await readConfiguration());
  const shown = await withBelay(
    (belay) => Promise.all(PARTS.map((part) => part.look(planned, { belay, policy, named: service }))),
    definedFields({ service }),
  );
  const values = Object.fromEntries(PARTS.map(({ name }, index) => [name, shown[index]?.value]));
  const lines = [...shown.flatMap((it) => it.lines), 'dry run: nothing was started'];
  printAnswer(asJson, { started: false, ...values }, lines);
  return EXIT.completed;
}
