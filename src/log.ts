/** The log of programs that stay up: JSON lines on stderr, stdout is for results. */
import { pino, type Logger } from 'pino';

export type { Logger };

export function createLogger(level: 'info' | 'warn' | 'silent'): Logger {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination({ fd: 2, sync: true }));
}
