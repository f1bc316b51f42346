/** What stands in more than one place of belay.yaml. */
import { z } from 'zod';
import { durationText, parseDuration } from '../../contract/wording/duration.ts';
import { problemOfId } from '../../request/validate-run-input.ts';
import { NAME } from '../../request/validate-rollout-input.ts';

export const name = z.string().regex(NAME, { error: 'a name has up to 50 of a-z, 0-9 and "-"' });

/** An id of the service; one that stands there as a number is taken as it is written. */
export const id = z
  .union([z.string(), z.number()], { error: 'write the id of a server or site' })
  .transform(String)
  .superRefine((text, context) => {
    const problem = problemOfId(text);
    if (problem !== null) context.addIssue(`the id ${problem}: write it as the service does`);
  });

export const ids = z.array(id, { error: 'write a list of ids, like [34, 35]' }).superRefine((all, context) => {
  const twice = firstRepeated(all);
  if (twice >= 0)
    context.addIssue({ code: 'custom', message: `${all[twice]} stands there twice: name it once`, path: [twice] });
});

/** Where the first one stands that stood before; -1 where each is there once. */
export function firstRepeated(words: readonly string[]): number {
  return words.findIndex((word, index) => words.indexOf(word) < index);
}

/** In milliseconds. */
export function duration([min, max]: readonly [number, number]) {
  const remedy = `write a duration from ${durationText(min)} to ${durationText(max)}, like 30s or 5m`;
  return z
    .union([z.string(), z.number()], { error: remedy })
    .transform((text) => parseDuration(String(text)) ?? NaN)
    .refine((ms) => ms >= min && ms <= max, { error: remedy });
}

export function wholeNumber([min, max]: readonly [number, number]) {
  const error = `write a whole number from ${min} to ${max}`;
  return z.number({ error }).int({ error }).min(min, { error }).max(max, { error });
}

const SHARE = { error: 'write a number of servers, or per cent up to 100%, like 3%' };

/** A number of servers, or a part of them: `3`, `3%`. */
export const share = z
  .union([z.number(SHARE).int(SHARE).min(0, SHARE), z.string(SHARE).regex(/^\d{1,3}(\.\d+)?%$/, SHARE)], SHARE)
  .refine((value) => typeof value === 'number' || Number.parseFloat(value) <= 100, SHARE);

type Share = z.infer<typeof share>;

/** Rounded down: 3% of 10 servers is none. */
export function shareOf(value: Share, servers: number): number {
  return typeof value === 'number'
    ? value
    : Math.floor(Number(((Number.parseFloat(value) * servers) / 100).toFixed(6)));
}

/** One or a list of them. */
export function oneOrMore<T extends z.ZodType>(value: T, error: string) {
  return z
    .union([value, z.array(value).min(1, { error })], { error })
    .transform((given) => (Array.isArray(given) ? given : [given]) as z.output<T>[]);
}
