/** Gates in belay.yaml: the schema, and the rules between keys. */
import { z } from 'zod';
import { HOUR_MS } from '../../contract/duration.ts';
import { namesWord, wordsIn } from './worker-measure.ts';
import { LIMITS, GATE_DEFAULTS } from '../../request/limits.ts';
import {
  expectations,
  refuseBrokenRules,
  requestHeaders,
  path,
  secretPlace,
} from '../../config/file/request-schema.ts';
import {
  duration,
  name,
  wholeNumber,
  firstRepeated,
  oneOf,
  type ReportIssue,
  type ConfigIssue,
  type Path,
} from '../../config/file/schema-values.ts';
import { ownEntry } from '../../contract/plain-object.ts';
import type { Configuration } from '../../config/file/file-schema.ts';

const INTERVAL_LIMITS = [1_000, HOUR_MS] as const;
const DELAY_LIMITS = [0, 24 * HOUR_MS] as const;
const FAILURE_LIMITS = [0, LIMITS.gateTries[1]] as const;
const MAX_QUERY_LENGTH = 4_000;

const limit = z.number({ error: 'write a number' });

const query = z
  .string({ error: 'write a query of PromQL' })
  .trim()
  .min(1, { error: 'write a query of PromQL' })
  .max(MAX_QUERY_LENGTH, { error: `write at most ${MAX_QUERY_LENGTH} characters` })
  .superRefine((text, context) => {
    try {
      wordsIn(text);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      context.addIssue(error.message);
    }
  });

const ADDRESS = {
  error: 'write an address like http://prometheus:9090 without user or query, { file: PATH } or { env: NAME }',
};
const PAGE_ADDRESS = {
  error: 'write an address like https://ci.example.com/smoke without user or fragment, { file: PATH } or { env: NAME }',
};
const WORD_IN_ADDRESS = { error: 'an address has no words of the wave such as $hosts: only a query has' };

const address = z.string(ADDRESS).refine((text) => isOpenAddress(text) && !text.includes('?'), ADDRESS);
const pageAddress = z
  .string(PAGE_ADDRESS)
  .refine(isOpenAddress, PAGE_ADDRESS)
  .refine((text) => !namesWord(text), WORD_IN_ADDRESS);

/** An address that contains a secret belongs in a file or variable. */
function isOpenAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, hash } = new URL(text);
  return /^https?:$/.test(protocol) && [username, password, hash].every((it) => it === '');
}

const gate = z
  .strictObject(
    {
      prometheus: z
        .union([address, secretPlace], ADDRESS)
        .describe('Address of Prometheus, or where it is kept if it is a secret.')
        .optional(),
      token: secretPlace.describe('Where the bearer token for Prometheus is kept.').optional(),
      query: query
        .describe('PromQL. $hosts, $sites, $servers, $wave and $seconds stand for those of the wave.')
        .optional(),
      url: z
        .union([pageAddress, secretPlace], PAGE_ADDRESS)
        .describe('Address of a page, or where it is kept if it is a secret.')
        .optional(),
      requestHeaders,
      ...expectations,
      value: path.describe('Path of a number in the JSON body of the page, for min and max.').optional(),
      min: limit.describe('The smallest good value.').optional(),
      max: limit.describe('The largest good value.').optional(),
      atLeast: z
        .strictObject(
          {
            query: query.describe('Of Prometheus.').optional(),
            value: path.describe('Path in the JSON body of the page.').optional(),
            min: limit,
          },
          { error: 'write query: or value:, and min: below it' },
        )
        .describe('Without that much of this, there is no data.')
        .optional(),
      initialDelay: duration(DELAY_LIMITS).describe('Before the first measurement; default 0s.').optional(),
      interval: duration(INTERVAL_LIMITS).describe('Time between two measurements; default 30s.').optional(),
      tries: wholeNumber(LIMITS.gateTries).describe('Number of measurements; default 20.').optional(),
      inARow: wholeNumber(LIMITS.gateTries).describe('Good measurements in a row; default 5.').optional(),
      failures: wholeNumber(FAILURE_LIMITS).describe('How many may be bad; default 0.').optional(),
      dryRun: z.boolean().describe('Measured and noted, but decides nothing; default false.').optional(),
    },
    { error: 'write prometheus: or url:, and what is good, below it' },
  )
  .superRefine(({ header, body, json }, context) => refuseBrokenRules({ header, body, json }, context));

export const gates = z.record(name, gate);

export type GateConfig = z.infer<typeof gate>;

/* Checks the gates in belay.yaml, and the names of the gates after waves. */

export function gatePace(gate: Pick<GateConfig, 'interval' | 'tries' | 'inARow'>) {
  const { interval = GATE_DEFAULTS.interval, tries = GATE_DEFAULTS.tries } = gate;
  return { interval, tries, inARow: gate.inARow ?? Math.min(GATE_DEFAULTS.inARow, tries) };
}

export function checkGates({ gates = {}, rollouts = {} }: Configuration, report: ReportIssue): void {
  for (const [name, gate] of Object.entries(gates)) {
    const misfit = misfitIn(gate);
    if (misfit !== null) report(['gates', name, ...misfit.path], misfit.message);
    const { tries, inARow } = gatePace(gate);
    if (inARow > tries) report(['gates', name, 'inARow'], `it is more than the ${tries} tries: lower it`);
    if ((gate.failures ?? 0) >= tries)
      report(['gates', name, 'failures'], `it is not below the ${tries} tries: lower it`);
  }
  for (const [name, { waves = [] }] of Object.entries(rollouts)) {
    for (const [index, { after }] of waves.entries()) {
      const named = after?.gates ?? [];
      const path = ['rollouts', name, 'waves', index, 'after', 'gates'];
      const repeated = firstRepeated(named);
      if (repeated >= 0) report([...path, repeated], `duplicate gate ${named[repeated]}: remove one`);
      for (const [place, gate] of named.entries()) {
        if (ownEntry(gates, gate) === undefined)
          report([...path, place], `there is no gate ${gate}: ${oneOf(gates, 'gates')}`);
      }
    }
  }
}

/* Checks that the keys of a gate fit what it measures: Prometheus or a page. */

type Key = keyof GateConfig;

const OF_PROMETHEUS: readonly Key[] = ['query', 'token'];
const EXPECTATIONS: readonly Key[] = ['status', 'header', 'body', 'json'];
const OF_PAGES: readonly Key[] = [...EXPECTATIONS, 'requestHeaders', 'value'];

/** @returns the first issue, with a path below the gate's key; null if all keys fit */
function misfitIn(gate: GateConfig): ConfigIssue | null {
  const { prometheus, url, min, max } = gate;
  if (prometheus !== undefined && url !== undefined)
    return issue(['url'], 'a gate measures either Prometheus or a page: remove url: or prometheus:');
  if (prometheus === undefined && url === undefined)
    return issue([], 'write prometheus: with query:, or url:, below it');
  const isPage = url !== undefined;
  const foreign = (isPage ? OF_PROMETHEUS : OF_PAGES).find((key) => gate[key] !== undefined);
  if (foreign !== undefined) {
    const [other, own] = isPage ? ['prometheus', 'url'] : ['url', 'prometheus'];
    return issue([foreign], `it goes with ${other}:, and this gate has ${own}: remove it`);
  }
  return (
    (isPage ? pageIssue(gate) : queryIssue(gate)) ??
    amountIssue(gate, isPage) ??
    ((min ?? -Infinity) > (max ?? Infinity) ? issue([], 'min is more than max: no value is good') : null)
  );
}

const issue = (path: Path, message: string): ConfigIssue => ({ path, message });

const hasLimits = ({ min, max }: GateConfig): boolean => min !== undefined || max !== undefined;

function queryIssue(gate: GateConfig): ConfigIssue | null {
  if (gate.query === undefined) return issue([], 'write query: and min: or max: below it');
  return hasLimits(gate) ? null : issue([], 'write min:, max: or both');
}

function pageIssue(gate: GateConfig): ConfigIssue | null {
  const { value, min } = gate;
  if (value !== undefined)
    return hasLimits(gate) ? null : issue(['value'], 'it has no limits: write min:, max: or both beside it');
  if (hasLimits(gate))
    return issue([min === undefined ? 'max' : 'min'], 'write value: beside it, the path of a number in the JSON body');
  const isEmpty = EXPECTATIONS.every((key) => gate[key] === undefined || Object.keys(gate[key]).length === 0);
  return isEmpty ? issue([], 'write what is good: status:, header:, body:, json:, or value: with min: or max:') : null;
}

function amountIssue({ atLeast }: GateConfig, isPage: boolean): ConfigIssue | null {
  if (atLeast === undefined) return null;
  const [right, wrong] = isPage ? (['value', 'query'] as const) : (['query', 'value'] as const);
  if (atLeast[right] !== undefined && atLeast[wrong] === undefined) return null;
  return issue(['atLeast'], `write ${right}: and min: below it, as the gate has ${isPage ? 'url' : 'prometheus'}:`);
}
