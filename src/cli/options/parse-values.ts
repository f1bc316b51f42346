/** What may stand in an option; an error says what was wrong and what to write. */
import { closeSync, openSync } from 'node:fs';
import { InvalidArgumentError } from 'commander';
import { durationText, HOUR_MS, parseDuration } from '../../contract/wording/duration.ts';
import { MAX_TRIES, problemOfId } from '../../request/validate-run-input.ts';

/** The longest a timer of Node's can be. */
export const TIMER_LIMITS = [0, 596 * HOUR_MS] as const;

/** For an option that takes no other duration. @param limits from, to, in milliseconds */
export function durationWithin([min, max]: readonly [number, number]): (text: string) => number {
  return (text) => {
    const ms = parseDuration(text);
    if (ms === null) {
      throw new InvalidArgumentError(`"${text}" is no duration: write 500ms, 10s, 2m or 1h; a bare number is seconds.`);
    }
    if (ms >= min && ms <= max) return ms;
    throw new InvalidArgumentError(
      `"${text}" is not possible: write a duration from ${durationText(min)} to ${durationText(max)}.`,
    );
  };
}

export function parseTries(text: string): number {
  const tries = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (tries >= 1 && tries <= MAX_TRIES) return tries;
  throw new InvalidArgumentError(`"${text}" is no number of tries: write a whole number from 1 to ${MAX_TRIES}.`);
}

export function parseLimit(text: string): number {
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= 1_000) return limit;
  throw new InvalidArgumentError(`"${text}" is no limit: write a whole number from 1 to 1000.`);
}

/** A file that something can be added to. What can't be written is told before anything begins. */
export function parseWritable(file: string): string {
  if (file.trim() === '') throw new InvalidArgumentError('It is empty: name a file.');
  try {
    closeSync(openSync(file, 'a'));
    return file;
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    throw new InvalidArgumentError(`${file} cannot be written (${code}): name a file that can.`);
  }
}

export function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : NaN;
  if (port <= 65_535) return port;
  throw new InvalidArgumentError(`"${text}" is no port: write a number from 0 to 65535; 0 is any free one.`);
}

export function parseId(text: string): string {
  const problem = problemOfId(text);
  if (problem === null) return text;
  throw new InvalidArgumentError(`The id ${problem}.`);
}

/** For an option that may be given several times. */
export function collectIds(text: string, before: string[] = []): string[] {
  const id = parseId(text);
  if (before.includes(id)) throw new InvalidArgumentError(`"${id}" is named twice: name it once.`);
  return [...before, id];
}

export function collectMeta(text: string, before: Record<string, string> = {}): Record<string, string> {
  const [name, ...rest] = text.split('=');
  if (name === undefined || name === '' || rest.length === 0) {
    throw new InvalidArgumentError(`"${text}" is no note: write name=value.`);
  }
  if (Object.hasOwn(before, name)) throw new InvalidArgumentError(`"${name}" is given twice: give it once.`);
  return { ...before, [name]: rest.join('=') };
}

/** The moment so many milliseconds ago, as the starter's filters take it. */
export function sinceText(agoMs: number | undefined): string | undefined {
  return agoMs === undefined ? undefined : new Date(Date.now() - agoMs).toISOString();
}
