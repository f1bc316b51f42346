/** What a run expects of its sites, as the worker knew it when the run began. */
import { factOf } from '../../contract/facts.ts';
import type { DeploymentResult } from '../../contract/run.ts';
import { CHECKS_FACT, type CheckAim } from './shapes.ts';
import { isApp, type Target } from '../../contract/target.ts';
import { isUnseen } from './text.ts';
import { recordWaiver } from '../freezes/override.ts';
import { conclude, type Conclusion } from '../../workflows/conclusion.ts';
import type { RunCheck } from '../../workflows/run/hooks.ts';
import type { RunState } from '../../workflows/run/run-state.ts';

export function siteChecks(run: RunState): RunCheck {
  const { facts, input, plan, result, type } = run;
  const { checks = [], leftOut } = factOf(facts, CHECKS_FACT) ?? {};
  const { commit = null, orNewer = false } = plan;

  function aimOf(target: Target): CheckAim | undefined {
    // A watch knows no request after which the site has to be well: it only looks for a commit.
    if (type === 'watchDeployment' && commit === null) return undefined;
    const known = checks.find(({ siteId }) => !isApp(target) && siteId === target.id);
    return known === undefined || input.noCheck !== undefined ? undefined : { ...known, commit, orNewer };
  }

  return {
    begun: () => recordWaiver(run, leftOut),
    carries(target) {
      const check = aimOf(target);
      return check === undefined ? {} : { check };
    },
    judge: (ended) => unlessUnchecked(ended, aimOf(ended.target)),
    ended() {
      const deployed = result.deployments.filter(({ outcome }) => outcome === 'completed');
      result.commitSeen = result.commit === null || deployed.length === 0 ? null : !deployed.some(isUnseen);
    },
  };
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
