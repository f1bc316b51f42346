/** Checks the sites and checks in belay.yaml against each other. */
import { HOUR_MS, durationText } from '../../contract/duration.ts';
import { CHECK_DEFAULTS } from '../../request/limits.ts';
import type { CheckConfig } from './config.ts';
import type { Configuration } from '../../config/file/file-schema.ts';
import { oneOf, type Report } from '../../config/file/config-issue.ts';

/** How often and how many times a site is read. */
export function paceOf(check: Pick<CheckConfig, 'interval' | 'tries' | 'inARow'>) {
  const { interval = CHECK_DEFAULTS.interval, tries = CHECK_DEFAULTS.tries, inARow = CHECK_DEFAULTS.inARow } = check;
  return { interval, tries, inARow };
}

export function checkSites({ sites = {}, checks = {} }: Configuration, report: Report): void {
  for (const [id, { check }] of Object.entries(sites)) {
    if (check === undefined || Object.hasOwn(checks, check)) continue;
    report(['sites', id, 'check'], `there is no check ${check}: ${oneOf(checks, 'checks')}`);
  }
  for (const [name, check] of Object.entries(checks)) {
    const { interval, tries, inARow } = paceOf(check);
    if (inARow > tries) report(['checks', name, 'inARow'], `it is more than the ${tries} tries: lower it`);
    if (interval * tries > HOUR_MS) {
      const takes = durationText(interval * tries);
      report(['checks', name, 'tries'], `with an interval of ${durationText(interval)}, it takes ${takes}: at most 1h`);
    }
  }
}
