/** Schemas of values that occur in several places of belay.yaml. */
import { z } from 'zod';
import { DAY_MS, durationText, parseDuration } from '../../contract/duration.ts';
import { problemOfId, TIME_OF_DAY } from '../../request/problems.ts';
import { NAME } from '../../request/input/rollout-input.ts';
import { cronTimes } from '../../request/calendar/cron-times.ts';
import { isTimeZone } from '../../request/calendar/local-time.ts';

/** Texts that may look like numbers. They keep the digits that the file has, such as 0012 or 1e3. */
export const AS_WRITTEN = z.registry<typeof KEPT>();
export const KEPT = { keepsDigits: true };

export const name = z
  .string()
  .regex(NAME, { error: 'use a name of 1 to 50 characters of a-z, 0-9 and "-", beginning with a letter or digit' })
  .register(AS_WRITTEN, KEPT);

/** An id of the service. */
export const id = z
  .union([z.string(), z.number()], { error: 'write the id of a server, site or app' })
  .transform(String)
  .superRefine(refuseBadId)
  .register(AS_WRITTEN, KEPT);

export function refuseBadId(text: string, context: z.RefinementCtx): void {
  const problem = problemOfId(text);
  if (problem !== null) context.addIssue(`the id ${problem}: write it as the service does`);
}

export const timeOfDay = z.string().regex(TIME_OF_DAY, { error: "write a time like '06:00', in quotes" });

export const timeZone = z.string().refine(isTimeZone, { error: 'write a time zone like Europe/Berlin or UTC' });

export const cron = z
  .string({ error: 'write minute, hour, day of month, month, day of week: 30 2 * * *' })
  .superRefine((text, context) => {
    try {
      cronTimes(text);
    } catch (error) {
      context.addIssue((error as Error).message);
    }
  });

export const ids = z.array(id, { error: 'write a list of ids, like [34, 35]' }).superRefine((all, context) => {
  const duplicate = firstRepeated(all);
  if (duplicate >= 0)
    context.addIssue({ code: 'custom', message: `duplicate id ${all[duplicate]}: remove one`, path: [duplicate] });
});

/** @returns the index of the first word that occurred before, or -1 */
export function firstRepeated(words: readonly string[]): number {
  return words.findIndex((word, index) => words.indexOf(word) < index);
}

/** @returns milliseconds */
export function duration([min, max]: readonly [number, number]) {
  const remedy = `write a duration from ${durationText(min)} to ${durationText(max)}, like ${max < 14 * DAY_MS ? '30s or 5m' : '30s, 5m, 7d or 2w'}`;
  return z
    .union([z.string(), z.number()], { error: remedy })
    .transform((text) => parseDuration(String(text)) ?? NaN)
    .refine((ms) => ms >= min && ms <= max, { error: remedy });
}

export function wholeNumber([min, max]: readonly [number, number]) {
  const error = `write a whole number from ${min} to ${max}`;
  return z.number({ error }).int({ error }).min(min, { error }).max(max, { error });
}

const COUNT_ERROR = { error: 'write a number of servers, or a percentage up to 100%, like 3%' };

/** A number of servers, or a percentage: `3`, `3%`. */
export const countOrPercent = z
  .union(
    [
      z.number(COUNT_ERROR).int(COUNT_ERROR).min(0, COUNT_ERROR),
      z.string(COUNT_ERROR).regex(/^\d{1,3}(\.\d+)?%$/, COUNT_ERROR),
    ],
    COUNT_ERROR,
  )
  .refine((value) => typeof value === 'number' || Number.parseFloat(value) <= 100, COUNT_ERROR);

const label = z
  .union([z.string(), z.number(), z.boolean()], { error: 'write a word or number for the label' })
  .transform(String)
  .register(AS_WRITTEN, KEPT);

export const labels = z.record(z.string().min(1), label);

/** One value or a list of them. */
export function oneOrMore<T extends z.ZodType>(value: T, error: string) {
  return z
    .union([value, z.array(value).min(1, { error })], { error })
    .transform((given) => (Array.isArray(given) ? given : [given]) as z.output<T>[]);
}

/** A contradiction between keys of belay.yaml. */
export interface ConfigIssue {
  path: Path;
  /** What is wrong, and how to fix it. */
  message: string;
}

export type Path = (string | number)[];
export type ReportIssue = (path: Path, message: string) => void;

/** The remedy for a name that does not exist below a key. */
export function oneOf(record: Record<string, unknown>, key: string): string {
  const known = Object.keys(record);
  return known.length === 0 ? `add it under ${key}` : `write one of ${known.join(', ')}, or add it under ${key}`;
}
