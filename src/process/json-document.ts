/** With --json stdout holds exactly one document. */
import type { RunResult } from '../contract/run.ts';

let printed = false;

/** Whatever comes after the first one goes to stderr. */
export function printDocument(document: object): void {
  const stream = printed ? process.stderr : process.stdout;
  printed = true;
  stream.write(`${JSON.stringify(document)}\n`);
}

/** At the end of a command that gave no result. */
export function printFailure(result: RunResult, json: boolean): void {
  if (json && !printed) printDocument(result);
  else process.stderr.write(`belay: ${result.error?.message}\n`);
}
