/** Freezes and windows in belay.yaml: the schema, and the rules between keys. */
import { z } from 'zod';
import { HOUR_MS, durationText } from '../../contract/duration.ts';
import { checkScope, scope } from '../../config/file/scope.ts';
import { cron, duration, name, timeZone, type Path, type ReportIssue } from '../../config/file/schema-values.ts';
import { cronTimes, everFires } from '../../request/calendar/cron-times.ts';
import type { Configuration } from '../../config/file/file-schema.ts';
import { overlapsItself } from '../../request/calendar/local-spans.ts';
import { isInCalendar } from './request.ts';

const LASTS_LIMITS = [60_000, 92 * 24 * HOUR_MS] as const;
const MARGIN_LIMITS = [0, 24 * HOUR_MS] as const;
const MAX_REASON = 200;

const LOCAL_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d$/;
const WITH_ZONE = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/i;

const localTime = z
  .string()
  .regex(LOCAL_TIME, {
    error: ({ input }) => (WITH_ZONE.test(String(input)) ? ZONED : 'write a local time like 2026-12-20T18:00'),
  })
  .refine(isInCalendar, { error: 'there is no such day or time: correct it' });

const ZONED = 'it has a zone: write it without a zone, like 2026-12-20T18:00, and timeZone: beside it';

const lasts = duration(LASTS_LIMITS).describe('How long it lasts, on the clocks of its time zone.');
const begins = cron.describe('When it begins: minute, hour, day of month, month, day of week.');
const zone = timeZone.describe('Time zone of its times; default UTC.').optional();
const REASON = { error: 'write why, for the people whose deployment it stops' };

const freeze = z
  .strictObject(
    {
      from: localTime.describe('When it begins, once: a local time like 2026-12-20T18:00.').optional(),
      to: localTime.describe('When it ends.').optional(),
      cron: begins.optional(),
      lasts: lasts.optional(),
      timeZone: zone,
      for: scope.optional(),
      reason: z.string(REASON).trim().min(1, REASON).max(MAX_REASON, { error: 'write at most 200 characters' }),
      blocks: z
        .array(z.enum(['deploy', 'backup']))
        .min(1, { error: 'write deploy, backup or both' })
        .describe('What it holds back; default deployments only.')
        .optional(),
      override: z
        .enum(['reason', 'never'], { error: 'write reason or never' })
        .describe('Whether a run may be let off: with a reason (default), or never.')
        .optional(),
    },
    { error: 'write from: and to:, or cron: and lasts:, and a reason: below it' },
  )
  .refine(
    ({ from, to, cron, lasts }) => hasBoth(from, to) !== hasBoth(cron, lasts) && hasPairs(from, to, cron, lasts),
    {
      error: 'write from: and to: for once, or cron: and lasts: for again and again',
    },
  );

const window = z.strictObject(
  {
    cron: begins,
    lasts,
    timeZone: zone,
    for: scope.optional(),
    margin: duration(MARGIN_LIMITS)
      .describe('Begin no deployment in this last part of the window; default none.')
      .optional(),
  },
  { error: 'write cron: and lasts: below it' },
);

const hasBoth = (one: unknown, other: unknown): boolean => one !== undefined && other !== undefined;

const hasPairs = (from: unknown, to: unknown, begin: unknown, length: unknown): boolean =>
  (from === undefined) === (to === undefined) && (begin === undefined) === (length === undefined);

export const freezesSection = z.record(name, freeze);
export const windows = z.record(name, window);

export type FreezeConfig = z.infer<typeof freeze>;
export type WindowConfig = z.infer<typeof window>;

export function checkFreezes(configuration: Configuration, report: ReportIssue): void {
  const { freezes = {}, windows = {} } = configuration;
  for (const [name, { from, to, cron, lasts, ...freeze }] of Object.entries(freezes)) {
    const path = ['freezes', name];
    checkScope([...path, 'for'], freeze.for, configuration, report);
    if (cron !== undefined && lasts !== undefined) checkRecurrence(path, cron, lasts, report);
    if (from !== undefined && to !== undefined && to <= from) {
      report([...path, 'to'], `it is not after from: ${from}: write a later time`);
    }
  }
  for (const [name, { cron, lasts, margin = 0, ...window }] of Object.entries(windows)) {
    const path = ['windows', name];
    if (Object.hasOwn(freezes, name)) report(path, 'a freeze has the same name: rename one of them');
    checkScope([...path, 'for'], window.for, configuration, report);
    checkRecurrence(path, cron, lasts, report);
    if (margin >= lasts) report([...path, 'margin'], `it leaves nothing of the ${durationText(lasts)}: shorten it`);
  }
}

function checkRecurrence(path: Path, cron: string, lastsMs: number, report: ReportIssue): void {
  const times = cronTimes(cron);
  if (!times.some(everFires)) report([...path, 'cron'], 'it never begins: no given month has that day');
  else if (overlapsItself({ times, lastsMs })) {
    report([...path, 'lasts'], 'it begins again before it ends, so it never ends: shorten it');
  }
}
