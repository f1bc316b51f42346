/** Reads a site for its check. What is expected, and the secrets of the request, are in the worker's belay.yaml only. */
import { ROLLOUT_TYPE } from '../../contract/names.ts';
import { partsOf, type RolloutInput } from '../rollouts/shapes.ts';
import type { RunInput } from '../../contract/run.ts';
import { CHECKS_FACT, type CheckPlan, type SiteRead, type SiteReadInput } from './shapes.ts';
import { isApp, targetsOf } from '../../contract/target.ts';
import { plainRead } from './text.ts';
import type { Fact } from '../../activities/fact.ts';
import type { Policy } from '../../config/policy.ts';
import type { ReadSite } from '../../site-check/index.ts';
import { leftToOthers, notServed, type Served } from '../../activities/failures.ts';

interface SiteCheckDeps {
  served: Served;
  policy: () => Promise<Policy>;
  readSite: ReadSite;
}

export const createSiteChecks = ({ served, policy, readSite }: SiteCheckDeps) => ({
  checkSite: async ({ service, siteId, check }: SiteReadInput): Promise<SiteRead> => {
    const other = notServed({ service }, served);
    if (other !== null) throw leftToOthers('NoSuchCheck', other);
    const found = (await policy()).checkOf(siteId);
    if (found?.plan.name !== check)
      throw leftToOthers('NoSuchCheck', `this worker's belay.yaml has no check ${check} for site ${siteId}`);
    return plainRead(await readSite(found.request));
  },
});

/** The checks of what a run that begins is to deploy, or the names of those that a run or rollout leaves out. */
export const checksFact: Fact<NonNullable<(typeof CHECKS_FACT)['type']>> = {
  ...CHECKS_FACT,
  ask({ request: { type, input }, begins }, { policy: { checkOf } }) {
    const asked = input as RunInput | RolloutInput;
    const isRollout = type === ROLLOUT_TYPE;
    if (isRollout ? asked.noCheck === undefined : !begins) return undefined;
    const checks = partsOf(asked)
      .flatMap(targetsOf)
      .flatMap((target): CheckPlan[] => {
        const found = isApp(target) ? null : checkOf(target.id);
        return found === null ? [] : [found.plan];
      });
    if (checks.length === 0) return undefined;
    return asked.noCheck === undefined ? { checks } : { leftOut: [...new Set(checks.map(({ name }) => name))] };
  },
};
