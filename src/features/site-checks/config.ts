/** Sites and their checks in belay.yaml: the schema, and the rules between keys. */
import { z } from 'zod';
import { LIMITS, CHECK_DEFAULTS } from '../../request/limits.ts';
import { HOUR_MS, durationText } from '../../contract/duration.ts';
import { expectations, refuseBrokenRules, requestHeaders, headerName, path } from '../../config/file/request-schema.ts';
import { duration, id, name, wholeNumber, oneOf, type ReportIssue } from '../../config/file/schema-values.ts';
import type { Configuration } from '../../config/file/file-schema.ts';

const INTERVAL_LIMITS = [1_000, HOUR_MS] as const;
const TIMEOUT_LIMITS = [100, 15_000] as const;

const commitError = { error: 'write one of json: PATH, header: NAME and body: /…/' };
const commit = z.union(
  [
    z.strictObject({ json: path }),
    z.strictObject({ header: headerName }),
    z.strictObject({ body: z.string().trim().min(1) }),
  ],
  commitError,
);

const check = z
  .strictObject(
    {
      path: z
        .string()
        .regex(/^\/(?!\/)[^#\\\s]*$/, { error: 'write a path like /healthz: without a host' })
        .describe("Added to the site's url; default /.")
        .optional(),
      ...expectations,
      commit: commit.describe('Where the page shows the commit that it was built from.').optional(),
      requestHeaders,
      interval: duration(INTERVAL_LIMITS).describe('Time between two reads; default 5s.').optional(),
      tries: wholeNumber(LIMITS.checkTries).describe('Number of reads; default 24.').optional(),
      inARow: wholeNumber(LIMITS.checkTries).describe('Good reads in a row; default 3.').optional(),
      timeout: duration(TIMEOUT_LIMITS).describe('Time for the whole answer; default 5s, at most 15s.').optional(),
    },
    { error: 'write path:, status:, header:, body:, json: or commit: below it' },
  )
  .superRefine(refuseBrokenRules);

const url = z.string().superRefine((text, context) => {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    context.addIssue('write an address like https://shop.example.com');
    return;
  }
  const { username, password, search, hash } = new URL(text);
  if (username !== '' || password !== '' || search !== '' || hash !== '')
    context.addIssue('write the address without user, query or fragment: secrets go into requestHeaders:');
});

const site = z.strictObject(
  {
    url: url.describe('Where the site answers.'),
    check: name.describe('The check of checks: to make after a deployment.').optional(),
    private: z.boolean().describe('Whether the site may have an address that is not public; default false.').optional(),
    follow: z.boolean().describe('Follow redirects within the site; default false.').optional(),
  },
  { error: 'write url: and check: below it' },
);

export const sites = z.record(id, site);
export const checks = z.record(name, check);

export type SiteConfig = z.infer<typeof site>;
export type CheckConfig = z.infer<typeof check>;

/* Checks the sites and checks in belay.yaml against each other. */

export function paceOf(check: Pick<CheckConfig, 'interval' | 'tries' | 'inARow'>) {
  const { interval = CHECK_DEFAULTS.interval, tries = CHECK_DEFAULTS.tries, inARow = CHECK_DEFAULTS.inARow } = check;
  return { interval, tries, inARow };
}

export function checkSites({ sites = {}, checks = {} }: Configuration, report: ReportIssue): void {
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
