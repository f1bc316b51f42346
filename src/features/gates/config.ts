/** Gates in belay.yaml, and what of them follows a wave. Rules between keys are in plan/check-gates.ts and plan/check-gate-kind.ts. */
import { z } from 'zod';
import { HOUR_MS } from '../../contract/duration.ts';
import { namesWord, wordsIn } from './worker-measure.ts';
import { LIMITS } from '../../request/limits.ts';
import { expectations, refuseBroken, requestHeaders } from '../../config/file/request-schema.ts';
import { duration, name, wholeNumber } from '../../config/file/schema-values.ts';
import { path, secretPlace } from '../../config/file/secret-schema.ts';

const INTERVAL_LIMITS = [1_000, HOUR_MS] as const;
const DELAY_LIMITS = [0, 24 * HOUR_MS] as const;
const FAILURE_LIMITS = [0, LIMITS.gateTries[1]] as const;
const MAX_QUERY_LENGTH = 4_000;
const MAX_GATES = 5;

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

/** One with a secret in it belongs in a file or variable. */
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
  .superRefine(({ header, body, json }, context) => refuseBroken({ header, body, json }, context));

export const after = z.strictObject(
  {
    bake: duration(LIMITS.bakeMs).describe('How long to wait once all servers of the wave have ended.').optional(),
    gates: z
      .array(name)
      .min(1, { error: 'name at least one gate' })
      .max(MAX_GATES, { error: `name at most ${MAX_GATES} gates` })
      .describe('Which gates have to pass then. They are measured side by side.')
      .optional(),
  },
  { error: 'write bake: and gates: below it' },
);

const reaction = z.enum(['pause', 'stop']);

export const onGates = z.strictObject(
  {
    failed: reaction.describe('After a gate that failed; default as onFailures.').optional(),
    inconclusive: reaction.describe('After a gate that could not be judged; default pause.').optional(),
    patience: duration(LIMITS.patienceMs)
      .describe('How long such a gate may keep the rollout paused; default 24h.')
      .optional(),
  },
  { error: 'write failed:, inconclusive: and patience: below it' },
);

export const gates = z.record(name, gate);

export type GateConfig = z.infer<typeof gate>;
