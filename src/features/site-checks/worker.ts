/**
 * The worker's part of site checks: it tells a run which checks there are, and reads the sites. Only the worker's
 * belay.yaml has the expectations and the secrets of the request.
 */
import { ROLLOUT_TYPE } from '../../contract/names.ts';
import { partsOf, type RolloutInput } from '../rollouts/shapes.ts';
import type { RunInput } from '../../contract/run.ts';
import { CHECKS_FACT, type CheckPlan, type SiteRead, type SiteReadInput } from './shapes.ts';
import { isApp, targetsOf } from '../../contract/target.ts';
import { plainRead } from './text.ts';
import type { Fact } from '../../activities/fact.ts';
import { compileCheck, type SiteRequest } from '../../site-check/index.ts';
import type { ActivityDeps } from '../../activities/deps.ts';
import { leftToOthers, notServed } from '../../activities/failures.ts';
import type { Configuration } from '../../config/load.ts';
import { checkAddress } from '../../config/environment/secrets.ts';
import { type CheckConfig, type SiteConfig, paceOf } from './config.ts';
import { CHECK_DEFAULTS } from '../../request/limits.ts';
import { headersSource } from '../../config/file/request-schema.ts';

type SiteCheckDeps = Pick<ActivityDeps, 'workerInfo' | 'policy' | 'readSite'>;

export const createSiteChecks = ({ workerInfo, policy, readSite }: SiteCheckDeps) => ({
  checkSite: async ({ service, siteId, check }: SiteReadInput): Promise<SiteRead> => {
    const other = notServed({ service }, workerInfo);
    if (other !== null) throw leftToOthers('NoSuchCheck', other);
    const found = (await policy()).checkOf(siteId);
    if (found?.plan.name !== check)
      throw leftToOthers('NoSuchCheck', `this worker's belay.yaml has no check ${check} for site ${siteId}`);
    return plainRead(await readSite(found.request));
  },
});

/**
 * Returns the checks of the sites that a starting run deploys, or the names of the checks that a run or rollout leaves
 * out.
 */
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

export interface PolicyCheck {
  plan: CheckPlan;
  request: SiteRequest;
}

export function checksPolicy(configuration: Configuration) {
  const checks = siteChecksOf(configuration);
  return {
    /** Null if the site has none. */
    checkOf: (siteId: string) => checks.get(siteId) ?? null,
  };
}

/** By site id. @throws ConfigError for an address or secret that cannot be used */
export function siteChecksOf({ sites = {}, checks = {} }: Configuration): Map<string, PolicyCheck> {
  return new Map(
    Object.entries(sites).flatMap(([siteId, site]): [string, PolicyCheck][] => {
      const { check: name } = site;
      const check = name === undefined ? undefined : checks[name];
      if (name === undefined || check === undefined) return [];
      return [[siteId, { plan: planOf(siteId, name, check), request: requestOf(siteId, site, name, check) }]];
    }),
  );
}

function planOf(siteId: string, name: string, { commit, ...check }: CheckConfig): CheckPlan {
  const { interval: intervalMs, tries, inARow } = paceOf(check);
  return { siteId, name, showsCommit: commit !== undefined, intervalMs, tries, inARow };
}

function requestOf(siteId: string, site: SiteConfig, name: string, check: CheckConfig): SiteRequest {
  const base = checkAddress(`sites.${siteId}.url`, site.url).replace(/\/+$/, '');
  const { path = '/', timeout = CHECK_DEFAULTS.timeout, requestHeaders = {}, ...rules } = check;
  return {
    url: base + path,
    check: compileCheck(rules),
    timeoutMs: timeout,
    headers: headersSource(`checks.${name}.requestHeaders`, requestHeaders),
    follow: site.follow ?? false,
    isPrivateSite: site.private ?? false,
  };
}
