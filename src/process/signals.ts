/** Handles SIGINT, SIGTERM and SIGHUP from the start of the process. By default they end it, with one JSON document. */
import { printFailure } from './json-document.ts';
import { printNote } from './print.ts';
import { EXIT } from '../contract/errors.ts';
import { emptyResult } from '../contract/results.ts';

/** 128 plus the signal number, as shells report it. */
export const SIGNAL_EXIT_CODES = { SIGHUP: EXIT.hungUp, SIGINT: EXIT.interrupted, SIGTERM: EXIT.terminated } as const;
type InterruptSignal = keyof typeof SIGNAL_EXIT_CODES;

type Handler = (signal: InterruptSignal) => void;
let handler: Handler = (signal) => endNow(signal);

export function installSignalHandlers(): void {
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.on(signal, () => handler(signal));
}

/** Replaces the current handler. @returns a function that restores it */
export function onSignal(next: Handler): () => void {
  const before = handler;
  handler = next;
  return () => void (handler = before);
}

/** @param workflowId what the command was to wait for, if that is known @param hint how to go on, if it is */
export function endNow(signal: InterruptSignal, workflowId: string | null = null, hint: string[] = []): void {
  const error = { type: 'StoppedWaiting', message: `stopped by ${signal} before there was a result` } as const;
  printFailure({ ...emptyResult(), workflowId, error }, process.argv.includes('--json'));
  printNote(hint);
  process.exit(SIGNAL_EXIT_CODES[signal]);
}

/* Keeps a program running until SIGINT, SIGTERM or SIGHUP. A second signal ends the process at once. */

/** Resolves at the first signal; rejects when `broken` does. */
export async function runUntilSignal(broken = new Promise<never>(() => undefined)): Promise<void> {
  const stopped = new Promise<void>((resolve) => {
    let seen = 0;
    onSignal((signal) => {
      seen += 1;
      if (seen > 1) process.exit(SIGNAL_EXIT_CODES[signal]);
      resolve();
    });
  });
  await Promise.race([stopped, broken]);
}
