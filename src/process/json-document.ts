/** With --json, every exit prints exactly one JSON document on stdout. */
import { SCHEMA_VERSION } from '../contract/names.ts';
import type { RunResult } from '../contract/run.ts';
import { print, printNote, safeJson } from './print.ts';

let printed = false;

/** Call this before each command. */
export function startDocument(): void {
  printed = false;
}

/** Later documents go to stderr, so that stdout stays parseable. */
export function printJson(document: object): void {
  const stream = printed ? process.stderr : process.stdout;
  printed = true;
  stream.write(`${safeJson(document)}\n`);
}

/** Prints what a command found out. */
export const printDocument = (fields: object): void =>
  printJson({ schemaVersion: SCHEMA_VERSION, ...fields, error: null });

/** Prints what a command found out: one document with --json, else lines. */
export function printAnswer(asJson: boolean | undefined, fields: object, lines: string | readonly string[]): void {
  if (asJson === true) printDocument(fields);
  else print(lines);
}

export function printFailure(result: RunResult, json: boolean): void {
  if (json && !printed) printJson(result);
  else printNote(`belay: ${result.error?.message}`);
}
