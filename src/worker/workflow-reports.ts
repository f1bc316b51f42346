/** Writes what workflows report into the log and the metrics of the worker that executes them. */
import type { InjectedSinks } from '@temporalio/worker';
import { plainText } from '../contract/safe-text.ts';
import type { ReportSinks } from '../contract/sinks.ts';
import type { Logger } from '../process/log.ts';
import type { WorkerMetrics } from './worker-metrics.ts';

/** @param version of this worker, in every line */
export function reportSinks(metrics: WorkerMetrics, log: Logger, version: string): InjectedSinks<ReportSinks> {
  return {
    belay: {
      triggered: {
        fn({ workflowId, runId }, { effect, message, ...subject }) {
          metrics.triggered(subject.operation, effect);
          const line = { workflowId, runId, ...subject, version, effect };
          if (effect === 'accepted') log.info(line, 'the service accepted the request');
          else log.warn({ ...line, reason: plainText(message ?? '') }, 'the request was not accepted');
        },
      },
      operationEnded: {
        fn: ({ workflowId, runId }, ended) => log.info({ workflowId, runId, ...ended, version }, 'operation ended'),
      },
      runEnded: {
        fn({ workflowId, runId }, ended) {
          metrics.runEnded(ended);
          log.info({ workflowId, runId, ...ended, version }, 'run ended');
        },
      },
      lockAcquired: { fn: (_info, { operation, waitedMs }) => metrics.lockAcquired(operation, waitedMs) },
      hintDecided: { fn: (_info, { operation, afterMs }) => metrics.hintDecided(operation, afterMs) },
    },
  };
}
