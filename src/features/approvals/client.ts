/** Lists what runs and rollouts ask people to approve, and sends the answers. */
import { type WorkflowExecutionDescription, type WorkflowHandle, QueryNotRegisteredError } from '@temporalio/client';
import pMap from 'p-map';
import { messageOf, plainText } from '../../contract/safe-text.ts';
import { type ApprovalAnswer, type ApprovalQuestion, type AskingRun, type Decided, planHash } from './shapes.ts';
import { QUERIES } from '../../contract/names.ts';
import { BelayError } from '../../contract/errors.ts';
import { TIMING } from '../../contract/timing.ts';
import { firstListed, RUNNING, RUNS_AND_ROLLOUTS, runsAndRolloutsOn } from '../../client/list-filter.ts';
import { describeOnly } from '../../client/read-workflow.ts';
import { requireWorkers, NO_WORKER_REMEDY } from '../../client/workers.ts';
import { sendDecision } from '../../client/send-decision.ts';
import { checkWorkflowId } from '../../client/check-options.ts';
import { IN_PARALLEL, type Session } from '../../client/session.ts';
import { within } from '../../client/within.ts';
import { isUnanswered } from '../../client/transport/grpc-errors.ts';
import { summaryOf } from './rules.ts';

/** Every method throws a BelayError if it fails. */
export interface Approvals {
  /** Lists what waits for people according to Temporal's records, the oldest first. The list lags a moment. */
  list(): Promise<AskingRun[]>;
  /** Returns what this run or rollout asks now, or null if it asks nothing. */
  question(workflowId: string): Promise<ApprovalQuestion | null>;
  /** Resolves once a worker has verified the answer. @throws BelayError `Usage` if it does not count */
  approve(workflowId: string, answer: ApprovalAnswer): Promise<void>;
  /** Ends the run or rollout, even if others have approved it. The answer needs a reason. */
  reject(workflowId: string, answer: ApprovalAnswer): Promise<void>;
}

export function createApprovals(session: Session): Approvals {
  const handleOf = (workflowId: string) => {
    checkWorkflowId(workflowId, 'belay approvals');
    return session.client.workflow.getHandle(workflowId);
  };
  const decide = (name: Decided) => async (workflowId: string, payload: ApprovalAnswer) =>
    sendDecision(session, { name, handle: handleOf(workflowId), payload, describe, lookAgain: 'belay approvals' });
  return {
    list: () => within(session, TIMING.client.listMs, 'list approvals', () => list(session)),
    question: (workflowId) =>
      within(session, TIMING.client.startMs, `read ${workflowId}`, async () => {
        const handle = handleOf(workflowId);
        const described = await describe(handle);
        if (described.status.name !== 'RUNNING') return null;
        await requireWorkers(session);
        return readQuestion(session, described);
      }),
    approve: decide('approve'),
    reject: decide('reject'),
  };
}

/** @throws BelayError `NotFound` if the id belongs to something else */
const describe = (handle: WorkflowHandle): Promise<WorkflowExecutionDescription> =>
  describeOnly(handle, RUNS_AND_ROLLOUTS, {
    what: 'run or rollout',
    remedy: '`belay approvals` lists what is asked',
  });

/** @throws BelayError `NoWorker` if no worker answers in time */
function readQuestion(
  { client }: Session,
  { workflowId, runId, raw }: Pick<WorkflowExecutionDescription, 'workflowId' | 'runId' | 'raw'>,
): Promise<ApprovalQuestion | null> {
  const { namespace } = client.options;
  const executionId = raw.workflowExecutionInfo?.firstRunId ?? null;
  const query = () => askedNow(client.workflow.getHandle(workflowId, runId), { namespace, workflowId, executionId });
  return client.withDeadline(Date.now() + TIMING.client.queryMs, query).catch((error: unknown) => {
    throw isUnanswered(error) ? noWorkerAnswers(workflowId) : error;
  });
}

/** Temporal answered just before, so a worker is missing. Temporal may list its last poll for another minute. */
const noWorkerAnswers = (workflowId: string): BelayError =>
  new BelayError('NoWorker', `no worker answers for ${workflowId} now: ${NO_WORKER_REMEDY}`);

async function list(session: Session): Promise<AskingRun[]> {
  const { client, taskQueue } = session;
  const found = await firstListed(client, `${runsAndRolloutsOn(taskQueue)} AND BelayPhase = 'approval' AND ${RUNNING}`);
  const waiting = found.map(({ workflowId, runId, startTime }) => {
    return { workflowId, runId, startedAt: startTime.toISOString() };
  });
  if (waiting.length === 0) return [];
  const noWorker = await requireWorkers(session).then(() => null, messageOf);
  const asking = await pMap(
    waiting,
    async (it): Promise<AskingRun | null> => {
      if (noWorker !== null) return { ...it, question: null, why: noWorker };
      try {
        const described = await describe(client.workflow.getHandle(it.workflowId, it.runId));
        const question = await readQuestion(session, described);
        // Temporal's records lag, so a decided question can still be listed.
        return question === null ? null : { ...it, question, why: null };
      } catch (error) {
        // A run that does not answer must neither hide the others nor vanish from the list.
        return { ...it, question: null, why: messageOf(error) };
      }
    },
    IN_PARALLEL,
  );
  const sinceOf = ({ question, startedAt }: AskingRun) => question?.plan.askedAt ?? startedAt;
  return asking.filter((it) => it !== null).sort((a, b) => sinceOf(a).localeCompare(sinceOf(b)));
}

export interface AskedExecution {
  namespace: string;
  workflowId: string;
  /** Run id of the first execution. Null if this version of Temporal does not report it. */
  executionId: string | null;
}

/**
 * Returns what a run or rollout asks now, or null if it asks nothing. A workflow answers no query before its code has
 * begun.
 *
 * @throws BelayError `Refused` if the answer is not what people would sign: whoever can start workflows can answer
 * anything
 */
export async function askedNow(
  handle: Pick<WorkflowHandle, 'query'>,
  execution: AskedExecution,
): Promise<ApprovalQuestion | null> {
  const question = await handle.query<ApprovalQuestion | null>(QUERIES.approval).catch((error: unknown) => {
    if (error instanceof QueryNotRegisteredError) return null;
    throw error;
  });
  const problem = question === null ? null : problemOf(question, execution);
  if (problem === null) return question;
  const { workflowId } = execution;
  const remedy = 'approve nothing, and find out which workers answer for this namespace';
  throw new BelayError('Refused', `the answer of ${plainText(workflowId)} is not to be trusted: ${problem}: ${remedy}`);
}

function problemOf({ plan, hash, parts }: ApprovalQuestion, asked: AskedExecution): string | null {
  for (const field of ['namespace', 'workflowId', 'executionId'] as const) {
    if (asked[field] !== null && plan[field] !== asked[field])
      return `its plan has the ${field} ${plainText(String(plan[field]))}`;
  }
  if (planHash(plan) !== hash) return 'its hash is not that of its plan';
  const found = summaryOf(parts);
  const isSame = (['root', 'servers', 'targets'] as const).every((field) => found[field] === plan.parts[field]);
  return isSame ? null : 'the parts that it shows are not those of its plan';
}
