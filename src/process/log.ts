/** The log of long-running programs: JSON lines on stderr, because stdout is for results. */
import { pino, type Logger } from 'pino';
import { escapedJson } from './print.ts';

export type { Logger };

export function createLogger(level: 'info' | 'warn' | 'silent'): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    // Temporal's SDK logs errors under this key.
    serializers: { error: (error: unknown) => (error instanceof Error ? error.message : error) },
  };
  // Pino's own destination throws where a disk is full, and would end the program with its requests in progress.
  return pino(options, { write: (line) => void process.stderr.write(`${escapedJson(line.trimEnd())}\n`) });
}
