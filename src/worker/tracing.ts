/** A span for every activity: what it was about, how it ended, and what the service answered. Never its input or result. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Info } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { OPERATION_TYPES, ROLLOUT_TYPE, RUN_TYPES } from '../contract/names.ts';
import { isRecord } from '../contract/plain-object.ts';
import type { RequestReport } from '../hosting-api/index.ts';
import type { SpanFacts, Tracing } from '../tracing/tracing.ts';
import { attributesOf, isPooled, readNameOf } from './activity-attributes.ts';

interface Current {
  /** Of the last answer of the service. */
  status: number | null;
  onAnswer(report: RequestReport): void;
}

const current = new AsyncLocalStorage<Current>();

/** Call it after each request to the service. */
export function noteAnswer(report: RequestReport): void {
  const activity = current.getStore();
  if (activity === undefined) return;
  activity.status = report.status;
  activity.onAnswer(report);
}

export interface ActivityWorkflow {
  workflowId: string;
  runId: string;
  type: string;
}

/** @param runOf the run id of the run that a workflow is a part of */
export function activitySpans(
  tracing: Tracing,
  runOf: (workflow: ActivityWorkflow) => Promise<string>,
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

const workflowOf = ({ workflowExecution, workflowType }: Info): ActivityWorkflow => ({
  workflowId: workflowExecution?.workflowId ?? '',
  runId: workflowExecution?.runId ?? '',
  type: workflowType ?? '',
});

/** Workflows of other types have no span of their own. */
const WITH_SPANS: readonly string[] = [...RUN_TYPES, ROLLOUT_TYPE, ...OPERATION_TYPES];

function within({ runId, type }: ActivityWorkflow, trace: string): { within?: string } {
  if (WITH_SPANS.includes(type)) return { within: runId };
  return trace === runId ? {} : { within: trace };
}

const TRIGGERS = ['createBackup', 'triggerDeployment'];

const outcomeOf = ({ activityType }: Info): string => (TRIGGERS.includes(activityType) ? 'accepted' : 'answered');
