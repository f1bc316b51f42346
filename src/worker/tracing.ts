/**
 * Makes a span for every activity: what it was about, how it ended, and what the service answered. A span never
 * contains the input or result.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Info } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { ActivityInterceptorsFactory, InjectedSinks } from '@temporalio/worker';
import type { TypedExecution } from '../client/lookups/runs.ts';
import { OPERATION_TYPES, POST_ACTIVITIES, ROLLOUT_TYPE, RUN_TYPES } from '../contract/names.ts';
import { isRecord } from '../contract/plain-object.ts';
import type { RequestReport } from '../hosting-api/index.ts';
import type { SpanFacts, Tracing, SpanAttributes } from '../tracing/tracing.ts';
import type { OperationKind, MetricSinks } from '../contract/sinks.ts';

interface Current {
  /** The status of the service's last answer. */
  status: number | null;
  onAnswer(report: RequestReport): void;
}

const current = new AsyncLocalStorage<Current>();

/** Call this after each request to the service. */
export function noteAnswer(report: RequestReport): void {
  const activity = current.getStore();
  if (activity === undefined) return;
  activity.status = report.status;
  activity.onAnswer(report);
}

/** @param runOf returns the run id of the run that a workflow belongs to */
export function activitySpans(
  tracing: Tracing,
  runOf: (workflow: TypedExecution) => Promise<string>,
): ActivityInterceptorsFactory {
  return ({ info }) => ({
    inbound: {
      async execute(input, next) {
        const startMs = Date.now();
        const workflow = workflowOf(info);
        const about = attributesOf(info, input.args[0]);
        const add = (span: Pick<SpanFacts, 'name' | 'startMs' | 'failed'>, outcome: string, status: number | null) => {
          const attributes = { ...about, outcome, 'http.response.status_code': status ?? undefined };
          const facts = { ...span, kind: 'client' as const, endMs: Date.now(), attributes };
          tracing.add(runOf(workflow).then((trace) => ({ ...facts, trace, ...within(workflow, trace) })));
        };
        const activity: Current = {
          status: null,
          onAnswer({ status, tookMs }) {
            // A pooled wait makes many reads.
            if (!isPooled(info)) return;
            const failed = status === null || status >= 400;
            const span = { name: readNameOf(input.args[0]), startMs: Date.now() - tookMs, failed };
            add(span, failed ? 'failed' : 'answered', status);
          },
        };
        const end = (outcome: string, failed: boolean) =>
          add({ name: info.activityType, startMs, failed }, outcome, activity.status);
        try {
          const result: unknown = await current.run(activity, () => next(input));
          const isFailedRead = isRecord(result) && result.ok === false;
          end(isFailedRead ? String(result.kind) : outcomeOf(info), isFailedRead);
          return result;
        } catch (error) {
          end(error instanceof ApplicationFailure ? (error.type ?? 'failed') : 'failed', true);
          throw error;
        }
      },
    },
  });
}

const workflowOf = ({ workflowExecution, workflowType }: Info): TypedExecution => ({
  workflowId: workflowExecution?.workflowId ?? '',
  runId: workflowExecution?.runId ?? '',
  type: workflowType ?? '',
});

/** Workflows of other types have no span of their own. */
const WITH_SPANS: readonly string[] = [...RUN_TYPES, ROLLOUT_TYPE, ...OPERATION_TYPES];

function within({ runId, type }: TypedExecution, trace: string): { within?: string } {
  if (WITH_SPANS.includes(type)) return { within: runId };
  return trace === runId ? {} : { within: trace };
}

const outcomeOf = ({ activityType }: Info): string =>
  POST_ACTIVITIES.includes(activityType) ? 'accepted' : 'answered';

/* Describes an activity with the names that the log uses. */

const OPERATIONS: Record<string, OperationKind> = {
  createBackup: 'backup',
  readBackup: 'backup',
  triggerDeployment: 'deployment',
  readLatestDeployment: 'deployment',
};

const isPooled = ({ activityType }: Pick<Info, 'activityType'>): boolean => activityType === 'pollWhileInProgress';

const readNameOf = (input: unknown): string => ('backupId' in subjectIn(input) ? 'readBackup' : 'readLatestDeployment');

function subjectIn(input: unknown): Record<string, unknown> {
  const { subject } = isRecord(input) ? input : {};
  return isRecord(subject) ? subject : {};
}

function attributesOf(info: Info, input: unknown): SpanAttributes {
  const { workflowExecution, activityType, attempt } = info;
  const { target, serverId } = { ...(isRecord(input) ? input : {}), ...subjectIn(input) };
  const { kind, id } = isRecord(target) ? target : {};
  return {
    workflowId: workflowExecution?.workflowId,
    runId: workflowExecution?.runId,
    operation: OPERATIONS[isPooled(info) ? readNameOf(input) : activityType],
    server: typeof serverId === 'string' ? serverId : undefined,
    ...(typeof id === 'string' ? { [kind === 'app' ? 'app' : 'site']: id } : {}),
    activity: activityType,
    attempt,
  };
}

/*
 * Makes spans of whole runs and operations from what workflows report at their ends. No workflow code knows about
 * traces.
 */

type Sinks = InjectedSinks<MetricSinks>;
type Reported = Parameters<Sinks['belay']['runEnded']['fn']>[0];

/** @param sinks receive the same reports */
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
