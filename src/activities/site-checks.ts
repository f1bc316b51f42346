/** Reads a site for its check. What is expected, and the secrets of the request, are in the worker's belay.yaml only. */
import type { WorkerInfo, WorkflowRequest } from '../contract/activities.ts';
import { ROLLOUT_TYPE } from '../contract/names.ts';
import { partsOf, type RolloutInput } from '../contract/rollout.ts';
import type { RunInput } from '../contract/run.ts';
import type { CheckPlan, SiteRead, SiteReadInput } from '../contract/site-check.ts';
import { isApp, targetsOf } from '../contract/target.ts';
import { plainRead } from '../contract/wording/check-text.ts';
import type { Policy } from '../policy/policy.ts';
import type { ReadSite } from '../site-check/index.ts';
import { leftToOthers, notServed, type Served } from './http/failures.ts';

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

/** The checks of what a run or rollout that begins is to deploy, or the names of those that it leaves out. */
export function checksAsked(
  { type, input }: WorkflowRequest,
  checkOf: Policy['checkOf'],
): Pick<WorkerInfo, 'checks' | 'checksLeftOut'> {
  const asked = input as RunInput | RolloutInput;
  if (asked.noCheck === undefined && type === ROLLOUT_TYPE) return {};
  const checks = partsOf(asked)
    .flatMap(targetsOf)
    .flatMap((target): CheckPlan[] => {
      const found = isApp(target) ? null : checkOf(target.id);
      return found === null ? [] : [found.plan];
    });
  if (checks.length === 0) return {};
  return asked.noCheck === undefined ? { checks } : { checksLeftOut: [...new Set(checks.map(({ name }) => name))] };
}
