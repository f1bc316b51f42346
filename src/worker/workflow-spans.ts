/** Spans of whole runs and operations, from what workflows report at their ends. No workflow code knows of traces. */
import type { InjectedSinks } from '@temporalio/worker';
import type { ReportSinks } from '../contract/sinks.ts';
import type { Tracing } from '../tracing/tracing.ts';

type Sinks = InjectedSinks<ReportSinks>;
type Reported = Parameters<Sinks['belay']['runEnded']['fn']>[0];

/** @param sinks that get the same reports */
export function withWorkflowSpans(tracing: Tracing, sinks: Sinks): Sinks {
  const { operationEnded, runEnded } = sinks.belay;
  const spanOf = ({ workflowId, workflowType, runId, startTime }: Reported) => ({
    name: workflowType,
    kind: 'internal' as const,
    of: runId,
    startMs: startTime.getTime(),
    endMs: Date.now(),
    ids: { workflowId, runId },
  });
  return {
    belay: {
      ...sinks.belay,
      operationEnded: {
        fn(info, ended) {
          const { ids, ...span } = spanOf(info);
          const { operation, server, site, app, outcome, errorType, polls, evidence } = ended;
          const about = { operation, server, site, app, polls, evidence: evidence ?? undefined };
          const attributes = { ...ids, ...about, ...ofEnd(outcome, errorType) };
          const trace = info.parent?.runId ?? info.runId;
          tracing.add({ ...span, trace, within: trace, attributes, failed: outcome !== 'completed' });
          return operationEnded.fn(info, ended);
        },
      },
      runEnded: {
        fn(info, ended) {
          const { ids, ...span } = spanOf(info);
          const attributes = { ...ids, ...ofEnd(ended.outcome, ended.errorType), parent: info.parent?.workflowId };
          tracing.add({ ...span, trace: info.runId, attributes, failed: ended.outcome !== 'completed' });
          return runEnded.fn(info, ended);
        },
      },
    },
  };
}

const ofEnd = (outcome: string | null, errorType: string | null) => ({
  outcome: outcome ?? 'none',
  errorType: errorType ?? undefined,
});
