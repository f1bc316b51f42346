/** What would be done, in its order, and with which options. */
import { counted } from '../contract/tally-text.ts';
import { targetText } from '../contract/target-text.ts';
import { planRun } from '../request/run-plan.ts';
import { triesFact } from '../request/run-details.ts';
import type { Part, Planned, PlannedRun } from './planned.ts';

export const planPart: Part = {
  name: 'plan',
  look(planned) {
    const options = planRun(planned.options);
    const runs = planned.runs.map(({ serverId = null, ...run }) => ({ ...run, serverId }));
    const value = { runs, options, rollout: rolloutFacts(planned) };
    const backups = planned.runs.some(({ serverId }) => serverId !== undefined);
    return Promise.resolve({
      value,
      lines: [
        ...(planned.rollout === null ? stepsOf(planned.runs[0]) : wavesOf(planned)),
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

function stepsOf(run: PlannedRun | undefined): string[] {
  const { serverId, targets } = run ?? { serverId: undefined, targets: [] };
  const steps = [
    ...(serverId === undefined ? [] : [`back up server ${serverId}`]),
    ...targets.map((it) => `deploy ${targetText(it)}`),
  ];
  return steps.map((step, index) => `${index + 1}. ${step}`);
}

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
