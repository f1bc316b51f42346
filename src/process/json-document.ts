/** With --json, every exit prints exactly one JSON document on stdout. */
import type { RunResult } from '../contract/run.ts';
import { printNote, safeJson } from './print.ts';

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

export function printFailure(result: RunResult, json: boolean): void {
  if (json && !printed) printJson(result);
  else printNote(`belay: ${result.error?.message}`);
}
