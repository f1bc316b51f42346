/** What the page of a rollout shows from its start on. Pure. */
import type { RolloutInput, RolloutWave } from '../features/rollouts/shapes.ts';
import { targetsOf } from '../contract/target.ts';
import { factList } from '../contract/markdown.ts';
import { codeSpan } from '../contract/safe-text.ts';
import { counted } from '../contract/tally-text.ts';
import { planRun } from './run-plan.ts';
import { detailsPage, firstOf } from './details-page.ts';
import { budgetFacts, overrideFact, serviceFact, waiverFact } from './run-details.ts';

export interface RolloutToStart {
  /** Markdown. */
  startedBy: string;
}

export function rolloutStaticDetails(input: RolloutInput, { startedBy }: RolloutToStart): string {
  const { name, fleet, waves, maxAtOnce, maxFailures, onFailures, attempt = 1, deploysUntil } = input;
  const deploys = waves.some(({ targets }) => targets.some((it) => targetsOf(it).length > 0));
  return detailsPage(
    `Rolls ${codeSpan(name)} out: one run for each server of the fleet ${codeSpan(fleet)}, wave by wave.`,
    factList(
      {
        'Started by': `${startedBy}${attempt > 1 ? `, attempt ${attempt}` : ''}`,
        Service: serviceFact(input.service),
        Waves: firstOf(waves.map(waveText)),
        'At once': `at most ${counted(maxAtOnce, 'server')}`,
        'Tolerated failures': `${maxFailures}, and one more ${onFailures === 'pause' ? 'pauses' : 'stops'} the rollout`,
        ...budgetFacts(planRun({ ...input.options }), { backup: true, deploys }),
        Override: overrideFact(input.override),
        Checks: waiverFact(input.noCheck),
        'Last start':
          deploysUntil === undefined
            ? null
            : `no deployment begins later than ${codeSpan(deploysUntil.time)} in ${codeSpan(deploysUntil.timeZone)}`,
      },
      input.meta,
    ),
    'Never terminate or reset it.',
  );
}

const waveText = ({ name, targets }: RolloutWave): string =>
  `${codeSpan(name)} with ${counted(targets.length, 'server')}`;
