/** Installs the SDK's runtime: its log goes to ours, its metrics to their exporter. */
import { DefaultLogger, Runtime, type MetricsExporterConfig } from '@temporalio/worker';
import { definedFields } from '../contract/plain-object.ts';
import type { Logger } from '../process/log.ts';

const PINO_LEVELS = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;

/** The worker for admission has no workflows on purpose. */
const EXPECTED = 'No workflows registered, not polling for workflow tasks';

let isInstalled = false;

/**
 * Call this before any other worker API of the SDK. Later calls do not replace the logger. The SDK gets no shutdown
 * signals: Belay stops the worker itself, because the worker has to end before the Temporal server and the sandbox do.
 */
export function installRuntime(logger: Logger, metrics?: MetricsExporterConfig): void {
  if (isInstalled) return;
  isInstalled = true;
  Runtime.install({
    logger: new DefaultLogger('TRACE', ({ level, message, meta }) => {
      // Whoever has the token of a task can complete the task.
      if (message !== EXPECTED) logger[PINO_LEVELS[level]]({ ...meta, taskToken: undefined }, message);
    }),
    telemetryOptions: {
      logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} },
      ...definedFields({ metrics }),
    },
    shutdownSignals: [],
  });
}
