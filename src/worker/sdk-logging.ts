/** What Temporal's SDK logs goes into our log. */
import { Runtime, type LogLevel } from '@temporalio/worker';
import type { Logger } from '../process/log.ts';

const PINO_LEVELS = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;

/**
 * To be called once, before anything of the SDK's worker. Belay stops its worker itself: it has to end before the
 * Temporal server and the sandbox do.
 */
export function installRuntime(logger: Logger): void {
  const write = (level: LogLevel, message: string, meta?: object) =>
    logger[PINO_LEVELS[level]](meta === undefined ? {} : { ...meta }, message);
  Runtime.install({
    logger: {
      log: write,
      trace: (message, meta) => write('TRACE', message, meta),
      debug: (message, meta) => write('DEBUG', message, meta),
      info: (message, meta) => write('INFO', message, meta),
      warn: (message, meta) => write('WARN', message, meta),
      error: (message, meta) => write('ERROR', message, meta),
    },
    telemetryOptions: { logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} } },
    shutdownSignals: [],
  });
}
