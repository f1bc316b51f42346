/** Fleets, rollouts and schedules in belay.yaml. What one key says of another is checked in fleet-checks.ts. */
import { z } from 'zod';
import { EVIDENCE } from '../../contract/run.ts';
import { HOUR_MS } from '../../contract/wording/duration.ts';
import { LIMITS, MAX_AT_ONCE, problemOfId } from '../../request/validate-run-input.ts';
import { isTimeZone } from '../../request/calendar/local-time.ts';
import { cronTimes, DAYS, MONTHS } from '../../request/calendar/cron-times.ts';
import { duration, id, ids, name, oneOrMore, share, wholeNumber } from './schema-values.ts';

/** What Temporal takes at least. */
const CATCH_UP_LIMITS = [10_000, 30 * 24 * HOUR_MS] as const;
const JITTER_LIMITS = [0, 24 * HOUR_MS] as const;

const tries = wholeNumber(LIMITS.tries);

/** How runs go: the options of `belay run`, in its words. */
const runOptions = {
  backup: z
    .strictObject({
      interval: duration(LIMITS.intervalMs).optional(),
      tries: tries.optional(),
      maxAge: duration(LIMITS.durationMs).optional(),
    })
    .describe('How backups are waited for.')
    .optional(),
  deploy: z
    .strictObject({
      interval: duration(LIMITS.intervalMs).optional(),
      tries: tries.optional(),
      settle: duration(LIMITS.durationMs).optional(),
      minEvidence: z.enum(EVIDENCE).optional(),
      baselineWait: duration(LIMITS.durationMs).optional(),
      onAmbiguous: z.enum(['resend', 'stop']).optional(),
    })
    .describe('How deployments are waited for.')
    .optional(),
  ifBusy: z.enum(['wait', 'fail']).optional(),
  busyTimeout: duration(LIMITS.busyTimeoutMs).optional(),
  keepGoing: z.boolean().describe("Go on with a server's next site when one is not completed.").optional(),
};

const label = z
  .union([z.string(), z.number(), z.boolean()], { error: 'write a word or number for the label' })
  .transform(String);
const labels = z.record(z.string().min(1), label);

const server = z.strictObject(
  {
    sites: ids.describe('Its sites, in the order in which they are deployed.').optional(),
    labels: labels.describe('Words of yours, for waves.').optional(),
  },
  { error: 'write sites: or labels: below it, or nothing' },
);

const serverId = z.string().superRefine((text, context) => {
  const problem = problemOfId(text);
  if (problem !== null) context.addIssue(`the id ${problem}: write it as the service does`);
});

const fleet = z.strictObject(
  {
    servers: z
      .record(
        serverId,
        server.nullable().transform((it) => it ?? {}),
        { error: 'write the servers below it, by their ids' },
      )
      .refine((servers) => Object.keys(servers).length > 0, { error: 'name at least one server' })
      // Objects put keys that look like numbers first; read.ts brings them into the order of the file.
      .transform((servers) => new Map(Object.entries(servers)))
      .describe('By their ids.'),
  },
  { error: 'write servers: and the servers below it' },
);

const wave = z
  .strictObject(
    {
      name: name.optional(),
      labels: labels.describe('Servers that have all of them.').optional(),
      servers: share
        .refine((value) => Number.parseFloat(String(value)) > 0, {
          error: 'write a number of servers from 1, or per cent',
        })
        .describe('So many, or per cent of the fleet; without it all.')
        .optional(),
    },
    { error: 'write labels: or servers: to say which servers go in this wave' },
  )
  .refine((it) => Object.keys(it.labels ?? {}).length > 0 || it.servers !== undefined, {
    error: 'write labels: or servers: to say which servers go in this wave',
  });

const rollout = z.strictObject(
  {
    fleet: z.string({ error: 'write the name of a fleet' }),
    waves: z
      .array(wave)
      .min(1, { error: 'name at least one wave, or leave waves out' })
      .describe('One after another; servers that no wave takes come last.')
      .optional(),
    maxAtOnce: wholeNumber([1, MAX_AT_ONCE]).describe('So many servers at most are under way; default 1.').optional(),
    maxFailures: share.describe('One more server that is not completed is too many; default 0.').optional(),
    onFailures: z
      .enum(['stop', 'pause'])
      .describe('When too many are not completed: begin nothing more (default), or pause for a decision.')
      .optional(),
    ...runOptions,
  },
  { error: 'write fleet: and how it is rolled out below it' },
);

const NUMBERS = { hour: [0, 23], minute: [0, 59], dayOfMonth: [1, 31] } as const;
function numbers(field: keyof typeof NUMBERS) {
  const limits = NUMBERS[field];
  return oneOrMore(wholeNumber(limits), `write a whole number from ${limits.join(' to ')}, or a list of them`);
}

const calendar = z.strictObject(
  {
    hour: numbers('hour'),
    minute: numbers('minute').optional(),
    dayOfMonth: numbers('dayOfMonth').optional(),
    dayOfWeek: oneOrMore(z.enum(DAYS), `write one of ${DAYS.join(', ')}, or a list of them`).optional(),
    month: oneOrMore(z.enum(MONTHS), `write one of ${MONTHS.join(', ')}, or a list of them`).optional(),
  },
  { error: 'write hour: and what else has to match below it' },
);

const cron = z
  .string({ error: 'write minute, hour, day of month, month, day of week: 30 2 * * *' })
  .superRefine((text, context) => {
    try {
      cronTimes(text);
    } catch (error) {
      context.addIssue((error as Error).message);
    }
  });

const start = z
  .strictObject(
    {
      rollout: name.describe('Of this name in rollouts.').optional(),
      run: id.describe('Backs this server up, then deploys its sites.').optional(),
      backup: id.describe('Backs this server up.').optional(),
      deploy: oneOrMore(id, 'write the id of a site, or a list of them').describe('Deploys these sites.').optional(),
    },
    { error: 'write one of rollout, run, backup and deploy below it' },
  )
  .refine((it) => Object.values(it).filter((value) => value !== undefined).length === 1, {
    error: 'write exactly one of rollout, run, backup and deploy',
  });

const schedule = z
  .strictObject(
    {
      start: start.describe('What it starts.'),
      cron: cron.describe('Minute, hour, day of month, month, day of week.').optional(),
      calendar: calendar.describe('Instead of cron: all that is given has to match.').optional(),
      timeZone: z
        .string()
        .refine(isTimeZone, { error: 'write a time zone like Europe/Berlin or UTC' })
        .describe('Of its times; default UTC.')
        .optional(),
      jitter: duration(JITTER_LIMITS).describe('Each time up to so much later; default none.').optional(),
      overlap: z
        .enum(['skip', 'queue'])
        .describe('While its last run goes on: leave a time out (default), or start one after it.')
        .optional(),
      catchUp: duration(CATCH_UP_LIMITS)
        .describe('What was missed while Temporal was down is made up for so long; default 1h.')
        .optional(),
      pauseOnFailure: z.boolean().describe('Pause when what it started is not completed; default false.').optional(),
      heartbeat: name.describe("Of the worker's notify.heartbeats: called when it is completed.").optional(),
      ...runOptions,
    },
    { error: 'write start: and cron: or calendar: below it' },
  )
  .refine((it) => (it.cron === undefined) !== (it.calendar === undefined), {
    error: 'write cron: or calendar:, one of them',
  });

export const fleets = z.record(name, fleet);
export const rollouts = z.record(name, rollout);
export const schedules = z.record(name, schedule);

export type FleetConfig = z.infer<typeof fleet>;
export type RolloutConfig = z.infer<typeof rollout>;
export type ScheduleConfig = z.infer<typeof schedule>;
export type RunOptionsConfig = Pick<RolloutConfig, keyof typeof runOptions>;
