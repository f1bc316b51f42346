/** Checks the sites and checks in belay.yaml against each other. */
import { HOUR_MS, durationText } from '../../contract/wording/duration.ts';
import { CHECK_DEFAULTS } from '../../request/limits.ts';
import type { Configuration } from '../file/file-schema.ts';
import { oneOf, type Report } from './config-issue.ts';

export function checkSites({ sites = {}, checks = {} }: Configuration, report: Report): void {
  for (const [id, { check }] of Object.entries(sites)) {
    if (check === undefined || Object.hasOwn(checks, check)) continue;
    report(['sites', id, 'check'], `there is no check ${check}: ${oneOf(checks, 'checks')}`);
  }
  for (const [name, check] of Object.entries(checks)) {
    const { interval = CHECK_DEFAULTS.interval, tries = CHECK_DEFAULTS.tries, inARow = CHECK_DEFAULTS.inARow } = check;
    if (inARow > tries) report(['checks', name, 'inARow'], `it is more than the ${tries} tries: lower it`);
    if (interval * tries > HOUR_MS) {
      const takes = durationText(interval * tries);
      report(['checks', name, 'tries'], `with an interval of ${durationText(interval)}, it takes ${takes}: at most 1h`);
    }
  }
}
