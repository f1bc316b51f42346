/** SIGINT and SIGTERM, from the first moment on: who has nothing better to do with them ends, with one document. */
import { printFailure } from './json-document.ts';
import { emptyResult } from '../contract/results/empty-results.ts';

/** What shells give for a process that a signal ended. */
export const SIGNAL_EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;
export type Interruption = keyof typeof SIGNAL_EXIT_CODES;

type Handler = (signal: Interruption) => void;
let handler: Handler = endNow;

export function installInterruption(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => handler(signal));
}

/** From now on they are the caller's. @returns gives them back */
export function takeInterruption(next: Handler): () => void {
  const before = handler;
  handler = next;
  return () => void (handler = before);
}

function endNow(signal: Interruption): void {
  const error = { type: 'StoppedWaiting', message: `ended by ${signal} before there was a result` } as const;
  printFailure({ ...emptyResult(), error }, process.argv.includes('--json'));
  process.exit(SIGNAL_EXIT_CODES[signal]);
}
