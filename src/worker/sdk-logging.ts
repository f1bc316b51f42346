/** Sends the log of Temporal's SDK to our log. */
import { Runtime, type LogLevel } from '@temporalio/worker';
import type { Logger } from '../process/log.ts';

const PINO_LEVELS = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;

/** The worker for admission has none on purpose. */
const EXPECTED = 'No workflows registered, not polling for workflow tasks';

let isInstalled = false;

/**
 * Call it before any other worker API of the SDK. The first logger stays. The SDK gets no shutdown signals: Belay
 * stops the worker itself, because it has to end before the Temporal server and the sandbox do.
 */
export function installRuntime(logger: Logger): void {
  if (isInstalled) return;
  isInstalled = true;
  const write = (level: LogLevel, message: string, meta?: object) => {
    if (message !== EXPECTED) logger[PINO_LEVELS[level]](meta === undefined ? {} : { ...meta }, message);
  };
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
