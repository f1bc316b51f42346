/** What a run expects of its sites, as the worker knew it when the run began. */
import type { DeploymentResult } from '../../../contract/run.ts';
import type { CheckAim } from '../../../contract/site-check.ts';
import { isApp, type Target } from '../../../contract/target.ts';
import { conclude, type Conclusion } from '../../common/conclusion.ts';
import type { RunState } from '../state/run-state.ts';

export function aimOf({ plan, checks }: RunState, target: Target): CheckAim | undefined {
  const known = checks.find(({ siteId }) => !isApp(target) && siteId === target.id);
  const { commit = null, orNewer = false } = plan;
  return known === undefined ? undefined : { ...known, commit, orNewer };
}

/** A worker of a build without checks leaves them out, and nothing that was asked for may pass unchecked. */
export function unlessUnchecked({ outcome, error, check }: DeploymentResult, aim: CheckAim | undefined): Conclusion {
  const isUnchecked = aim !== undefined && outcome === 'completed' && check?.outcome !== 'passed';
  if (!isUnchecked) return { outcome, error };
  return conclude(
    'unknown',
    'OutcomeUnknown',
    `check ${aim.name} was not made: a worker without checks deployed the site`,
  );
}
