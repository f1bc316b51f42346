/** Parses the values of options. An error says what is wrong and what to write. */
import { closeSync, openSync } from 'node:fs';
import { InvalidArgumentError } from 'commander';
import { isSameTarget, type Target } from '../contract/target.ts';
import { COMMIT } from '../contract/commit.ts';
import { DAY_MS, DURATION_REMEDY, durationText, HOUR_MS, parseDuration } from '../contract/duration.ts';
import type { Limits } from '../request/limits.ts';
import { problemOfId } from '../request/problems.ts';

/** The longest a timer of Node's can be. */
export const TIMER_LIMITS = [0, 596 * HOUR_MS] as const;

export function durationWithin([min, max]: Limits): (text: string) => number {
  return (text) => {
    const ms = parseDuration(text);
    if (ms === null) {
      throw new InvalidArgumentError(`"${text}" is not a duration. Use ${DURATION_REMEDY}.`);
    }
    if (ms >= min && ms <= max) return ms;
    throw new InvalidArgumentError(
      `"${text}" is out of range. Use a duration from ${durationText(min)} to ${inDays(max)}.`,
    );
  };
}

/** A limit of many days is easier to read in days. */
const inDays = (ms: number): string => (ms > DAY_MS && ms % DAY_MS === 0 ? `${ms / DAY_MS}d` : durationText(ms));

export function countWithin([min, max]: Limits): (text: string) => number {
  return (text) => {
    const count = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
    if (count >= min && count <= max) return count;
    throw new InvalidArgumentError(`"${text}" is not a whole number from ${min} to ${max}.`);
  };
}

export function choiceOf<T extends string>(choices: readonly T[]): (text: string) => T {
  return (text) => {
    const choice = choices.find((it) => it === text);
    if (choice !== undefined) return choice;
    throw new InvalidArgumentError(`"${text}" is none of ${choices.join(', ')}.`);
  };
}

export const parseLimit = countWithin([1, 1_000]);

/** Opens the file for appending, so that a file that cannot be written is rejected before anything starts. */
export function parseWritable(file: string): string {
  if (file.trim() === '') throw new InvalidArgumentError('Name a file.');
  try {
    closeSync(openSync(file, 'a'));
    return file;
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    throw new InvalidArgumentError(`Cannot write to ${file} (${code}). Name a file that can be written.`);
  }
}

export function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : NaN;
  if (port <= 65_535) return port;
  throw new InvalidArgumentError(`"${text}" is not a port. Use 0 to 65535; 0 picks a free port.`);
}

export function parseId(text: string): string {
  const problem = problemOfId(text);
  if (problem === null) return text;
  throw new InvalidArgumentError(`The id ${problem}.`);
}

/** For a text that people read, such as a reason. */
export function parseFilled(text: string): string {
  if (text.trim() !== '') return text;
  throw new InvalidArgumentError('It is empty. Give one.');
}

const RUN_ID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

export function parseRunId(text: string): string {
  if (RUN_ID.test(text)) return text;
  throw new InvalidArgumentError(`"${text}" is not a run id. It is a UUID, which \`--json\` prints as runId.`);
}

export function collectTargets(toTarget: (id: string) => Target, limit: number) {
  return (text: string, before: Target[] = []): Target[] => {
    const target = toTarget(parseId(text));
    if (before.length >= limit) throw new InvalidArgumentError('Follow one site or app at a time.');
    if (before.some((it) => isSameTarget(it, target)))
      throw new InvalidArgumentError(`"${target.id}" is given twice. Give it once.`);
    return [...before, target];
  };
}

export function collectMeta(text: string, before: Record<string, string> = {}): Record<string, string> {
  const [name, ...rest] = text.split('=');
  if (name === undefined || name === '' || rest.length === 0) {
    throw new InvalidArgumentError(`"${text}" is not a note. Write name=value.`);
  }
  if (Object.hasOwn(before, name)) throw new InvalidArgumentError(`"${name}" is given twice. Give it once.`);
  return { ...before, [name]: rest.join('=') };
}

/** @returns the moment this many milliseconds ago, ISO 8601 */
export function sinceText(agoMs: number | undefined): string | undefined {
  return agoMs === undefined ? undefined : new Date(Date.now() - agoMs).toISOString();
}

export function parseCommit(text: string): string {
  if (COMMIT.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError(`"${text}" is not a commit. Use its 7 to 64 hex digits.`);
}
