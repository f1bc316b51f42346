/** The log of programs that stay up: JSON lines on stderr, stdout is for results. */
import { pino, type Logger } from 'pino';

export type { Logger };

export function createLogger(level: 'info' | 'warn' | 'silent'): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    // Temporal's SDK calls it so.
    serializers: { error: (error: unknown) => (error instanceof Error ? error.message : error) },
  };
  return pino(options, pino.destination({ fd: 2, sync: true }));
}
