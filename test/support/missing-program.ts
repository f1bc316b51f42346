import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** A program of the system that the test needs, and that is not installed. */
export class MissingProgram extends Error {}

/** The exit code then: EX_TEMPFAIL of sysexits.h. */
export const EXIT_MISSING = 75;

/** @returns the exit code, after the message. @throws any other error */
export function leftOut(error: unknown): number {
  if (!(error instanceof MissingProgram)) throw error;
  process.stdout.write(`${error.message}\n`);
  return EXIT_MISSING;
}

export const isOnPath = (program: string): boolean =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)));
