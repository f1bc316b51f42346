/** The checks of a policy, ready to be made. */
import type { Configuration } from '../../config/load.ts';
import { checkAddress } from '../../config/environment/secrets.ts';
import type { CheckConfig, SiteConfig } from './config.ts';
import { paceOf } from './check-sites.ts';
import type { CheckPlan } from './shapes.ts';
import { CHECK_DEFAULTS } from '../../request/limits.ts';
import { compileCheck, type SiteRequest } from '../../site-check/index.ts';
import { headersSource } from '../../config/file/request-headers.ts';

export interface PolicyCheck {
  plan: CheckPlan;
  request: SiteRequest;
}

/** By site id. @throws ConfigError for an address or secret that cannot be used */
export function siteChecks({ sites = {}, checks = {} }: Configuration): Map<string, PolicyCheck> {
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
    ...{ url: base + path, check: compileCheck(rules), timeoutMs: timeout },
    headers: headersSource(`checks.${name}.requestHeaders`, requestHeaders),
    ...{ follow: site.follow ?? false, isPrivateSite: site.private ?? false },
  };
}
