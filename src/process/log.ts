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
  const stderr = pino.destination({ fd: 2, sync: true });
  return pino(options, { write: (line) => void stderr.write(`${escapedJson(line.trimEnd())}\n`) });
}
