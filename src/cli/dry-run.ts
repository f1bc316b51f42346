/** `--dry-run`: shows what a run or rollout would do and what would keep it from that, and starts nothing. */
import { readConfiguration } from '../config/load.ts';
import { definedFields } from '../contract/plain-object.ts';
import { policyOf } from '../config/policy.ts';
import { BelayError, EXIT } from '../contract/errors.ts';
import { printAnswer } from '../process/json-document.ts';
import { withBelay } from './open-belay.ts';
import { approvalsPart } from '../features/approvals/actions.ts';
import { checksPart } from '../features/site-checks/dry-run.ts';
import { etaPart } from '../features/advice/dry-run.ts';
import { freezesPart } from '../features/freezes/actions.ts';
import type { DryRunPart, Planned } from './planned.ts';
import { counted } from '../contract/results.ts';
import { operationsOf, targetText, type PlannedOperation } from '../contract/target.ts';
import { planRun } from '../request/run-options.ts';
import { triesFact } from '../request/run-details.ts';
import { operationIdOf } from '../contract/ids.ts';

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
    `at most ${counted(maxAtOnce, 'server')} at once; after more than ${counted(maxFailures, 'failure')}: ${onFailures}`,
  ];
}

/* Which service it would be for. */

const servicePart: DryRunPart = {
  name: 'service',
  async look(_planned, { belay, named }) {
    const service = named ?? (await belay.findService());
    return { value: service, lines: [`service: ${service ?? 'unknown: nothing names one and no worker polls'}`] };
  },
};

export { plannedRollout, plannedRun } from './planned.ts';

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
