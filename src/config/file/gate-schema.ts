/** Gates in belay.yaml, and what of them follows a wave. Rules between keys are in plan/check-gates.ts. */
import { z } from 'zod';
import { HOUR_MS } from '../../contract/wording/duration.ts';
import { wordsIn } from '../../gates/index.ts';
import { LIMITS } from '../../request/limits.ts';
import { duration, name, wholeNumber } from './schema-values.ts';
import { secretPlace } from './secret-schema.ts';

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
const address = z.string(ADDRESS).refine(isOpenAddress, ADDRESS);

/** One with a secret in it belongs in a file or variable. */
function isOpenAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && [username, password, search, hash].every((it) => it === '');
}

const gate = z
  .strictObject(
    {
      prometheus: z
        .union([address, secretPlace], ADDRESS)
        .describe('Address of Prometheus, or where it is kept if it is a secret.'),
      token: secretPlace.describe('Where the bearer token is kept.').optional(),
      query: query.describe('PromQL. $hosts, $sites, $servers, $wave and $seconds stand for those of the wave.'),
      min: limit.describe('The smallest good value.').optional(),
      max: limit.describe('The largest good value.').optional(),
      atLeast: z
        .strictObject({ query, min: limit }, { error: 'write query: and min: below it' })
        .describe('Without that much of this, there is no data.')
        .optional(),
      initialDelay: duration(DELAY_LIMITS).describe('Before the first measurement; default 0s.').optional(),
      interval: duration(INTERVAL_LIMITS).describe('Time between two measurements; default 30s.').optional(),
      tries: wholeNumber(LIMITS.gateTries).describe('Number of measurements; default 20.').optional(),
      inARow: wholeNumber(LIMITS.gateTries).describe('Good measurements in a row; default 5.').optional(),
      failures: wholeNumber(FAILURE_LIMITS).describe('How many may be bad; default 0.').optional(),
      dryRun: z.boolean().describe('Measured and noted, but decides nothing; default false.').optional(),
    },
    { error: 'write prometheus:, query: and min: or max: below it' },
  )
  .refine((it) => it.min !== undefined || it.max !== undefined, { error: 'write min:, max: or both' })
  .refine((it) => (it.min ?? -Infinity) <= (it.max ?? Infinity), { error: 'min is more than max: no value is good' });

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
