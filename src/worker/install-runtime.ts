/** Installs the SDK's runtime: its log goes to ours, its metrics to their exporter. */
import { Runtime, type LogLevel, type MetricsExporterConfig } from '@temporalio/worker';
import { definedFields } from '../contract/plain-object.ts';
import type { Logger } from '../process/log.ts';

const PINO_LEVELS = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;

/** The worker for admission has no workflows on purpose. */
const EXPECTED = 'No workflows registered, not polling for workflow tasks';

/** Whoever has the token of a task can complete the task. */
const withoutToken = (meta: object = {}): object => ({ ...meta, taskToken: undefined });

let isInstalled = false;

/**
 * Call this before any other worker API of the SDK. Later calls do not replace the logger. The SDK gets no shutdown
 * signals: Belay stops the worker itself, because the worker has to end before the Temporal server and the sandbox do.
 */
export function installRuntime(logger: Logger, metrics?: MetricsExporterConfig): void {
  if (isInstalled) return;
  isInstalled = true;
  const write = (level: LogLevel, message: string, meta?: object) => {
    if (message !== EXPECTED) logger[PINO_LEVELS[level]](withoutToken(meta), message);
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
    telemetryOptions: {
      logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} },
      ...definedFields({ metrics }),
    },
    shutdownSignals: [],
  });
}
