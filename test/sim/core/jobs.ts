/** The jobs of an activation, made from events as the SDK's core makes them. */
import { type ExecutionFacts, type Job, timestamp } from './sdk.ts';
import type { Failure, HistoryEvent, Incoming, UpdateRequest } from './events.ts';

/** Null for an event that workflow code does not hear of. */
export function jobOf(event: HistoryEvent, facts: ExecutionFacts): Job | null {
  switch (event.kind) {
    case 'started':
      return { initializeWorkflow: initialization(event, facts) };
    case 'timerFired':
      return { fireTimer: { seq: event.seq } };
    case 'activityClosed':
      return { resolveActivity: { seq: event.seq, isLocal: false, result: activityResult(event) } };
    case 'childStarted':
      return { resolveChildWorkflowExecutionStart: { seq: event.seq, succeeded: { runId: event.child.runId } } };
    case 'childRefused': {
      const { seq, workflowId, type } = event;
      return { resolveChildWorkflowExecutionStart: { seq, failed: { workflowId, workflowType: type, cause: 1 } } };
    }
    case 'childClosed':
      return { resolveChildWorkflowExecution: { seq: event.seq, result: childResult(event) } };
    case 'signalSent':
      return { resolveSignalExternalWorkflow: { seq: event.seq, ...signalFailure(event.problem) } };
    case 'signaled':
      return { signalWorkflow: { signalName: event.signal, input: event.input, identity: 'sim', headers: {} } };
    case 'cancelRequested':
      return { cancelWorkflow: { reason: '' } };
    default:
      return null;
  }
}

/** As core orders them: events keep their order within these groups. */
export function inOrder(jobs: Job[]): Job[] {
  const rank = (job: Job) =>
    job.initializeWorkflow || job.notifyHasPatch ? 0 : job.signalWorkflow || job.doUpdate ? 1 : 2;
  return [0, 1, 2].flatMap((wanted) => jobs.filter((job) => rank(job) === wanted));
}

/** @param isNew whether the code has to validate it. In a replay, it was accepted */
export function updateJob({ updateId, name, input }: UpdateRequest, isNew: boolean): Job {
  const meta = { updateId, identity: 'sim' };
  return {
    doUpdate: { id: updateId, protocolInstanceId: updateId, name, input, headers: {}, meta, runValidator: isNew },
  };
}

function initialization(
  { input, memo, attributes, parent }: Extract<Incoming, { kind: 'started' }>,
  { type, workflowId, firstRunId, startedMs, taskTimeoutMs }: ExecutionFacts,
) {
  return {
    ...{ workflowType: type, workflowId, arguments: input, headers: {}, identity: 'sim', attempt: 1 },
    startTime: timestamp(startedMs),
    firstExecutionRunId: firstRunId,
    workflowTaskTimeout: timestamp(taskTimeoutMs),
    memo: { fields: memo },
    searchAttributes: { indexedFields: attributes },
    ...(parent === null
      ? {}
      : { parentWorkflowInfo: { namespace: 'default', workflowId: parent.workflowId, runId: parent.runId } }),
  } as unknown as NonNullable<Job['initializeWorkflow']>;
}

type ActivityClosed = Extract<HistoryEvent, { kind: 'activityClosed' }>;

function activityResult({ outcome, seq, type, scheduledId, startedId }: ActivityClosed) {
  if ('result' in outcome) return { completed: { result: outcome.result } };
  const activityFailureInfo = {
    ...{
      scheduledEventId: scheduledId,
      startedEventId: startedId,
      identity: 'sim',
      activityId: String(seq),
      retryState: 0,
    },
    activityType: { name: type },
  };
  return { failed: { failure: wrapped('Activity task failed', outcome.failure, { activityFailureInfo }) } };
}

type ChildClosed = Extract<HistoryEvent, { kind: 'childClosed' }>;

function childResult({ outcome, child, type, initiatedId, startedId }: ChildClosed) {
  if (outcome !== 'terminated' && 'result' in outcome) return { completed: { result: outcome.result } };
  const childWorkflowExecutionFailureInfo = {
    ...{
      namespace: 'default',
      workflowExecution: child,
      initiatedEventId: initiatedId,
      startedEventId: startedId,
      retryState: 0,
    },
    workflowType: { name: type },
  };
  const cause: Failure =
    outcome === 'terminated' ? { message: 'terminated', terminatedFailureInfo: {} } : outcome.failure;
  return {
    failed: { failure: wrapped('Child Workflow execution failed', cause, { childWorkflowExecutionFailureInfo }) },
  };
}

const wrapped = (message: string, cause: Failure, info: object): Failure => ({ message, cause, ...info });

function signalFailure(problem: 'absent' | 'limit' | null): { failure?: Failure } {
  if (problem === null) return {};
  const type = problem === 'absent' ? 'ExternalWorkflowExecutionNotFound' : 'SignalCountLimitExceeded';
  const message = `Unable to signal external workflow because ${problem}`;
  return { failure: { message, applicationFailureInfo: { type } } };
}
