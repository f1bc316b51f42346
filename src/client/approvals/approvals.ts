/** What runs and rollouts ask people to approve, and the answers. */
import type { WorkflowExecutionDescription, WorkflowHandle } from '@temporalio/client';
import pMap from 'p-map';
import type { ApprovalAnswer, ApprovalQuestion, Decided } from '../../contract/approval.ts';
import { ROLLOUT_TYPE, RUN_TYPES } from '../../contract/names.ts';
import { BelayError } from '../../contract/results/belay-error.ts';
import { TIMING } from '../../contract/budgets/timing.ts';
import { quoted } from '../connection/list-filter.ts';
import { requireWorkers } from '../connection/require-worker.ts';
import { sendDecision } from '../connection/send-decision.ts';
import { IN_PARALLEL, type Session } from '../connection/session.ts';
import { within } from '../connection/within.ts';
import { NO_WORKER_REMEDY } from '../connection/workers-seen.ts';
import { isUnanswered } from '../transport/grpc-errors.ts';
import { askedNow } from './asked-now.ts';

/** @throws BelayError, from every call */
export interface Approvals {
  /** What is asked now, the oldest question first. The list lags a moment. */
  list(): Promise<ApprovalQuestion[]>;
  /** What this run or rollout asks now; null if nothing. */
  question(workflowId: string): Promise<ApprovalQuestion | null>;
  /** Counts once a worker has verified it. @throws BelayError `Usage` if it does not count */
  approve(workflowId: string, answer: ApprovalAnswer): Promise<void>;
  /** Ends the run or rollout, even if others have approved it. Requires a reason. */
  reject(workflowId: string, answer: ApprovalAnswer): Promise<void>;
}

export function createApprovals(session: Session): Approvals {
  const handleOf = (workflowId: string) => session.client.workflow.getHandle(workflowId);
  const decide = (name: Decided) => (workflowId: string, payload: ApprovalAnswer) => {
    const handle = handleOf(workflowId);
    return sendDecision(session, {
      ...{ name, handle, payload, lookAgain: 'belay approvals' },
      async check() {
        if (!(await isRunning(handle))) throw new BelayError('Usage', `cannot ${name} ${workflowId}: it has ended`);
      },
    });
  };
  return {
    list: () => within(session, TIMING.client.listMs, 'list approvals', () => list(session)),
    question: (workflowId) =>
      within(session, TIMING.client.startMs, `read ${workflowId}`, async () => {
        const handle = handleOf(workflowId);
        if (!(await isRunning(handle))) return null;
        await requireWorkers(session);
        return askedNow(handle).catch((error: unknown) => {
          throw isUnanswered(error) ? silent(workflowId) : error;
        });
      }),
    approve: decide('approve'),
    reject: decide('reject'),
  };
}

const ASKING_TYPES: readonly string[] = [...RUN_TYPES, ROLLOUT_TYPE];

/** @throws BelayError `NotFound` if the id belongs to something else */
async function isRunning(handle: WorkflowHandle): Promise<boolean> {
  const { type, status }: WorkflowExecutionDescription = await handle.describe();
  if (ASKING_TYPES.includes(type)) return status.name === 'RUNNING';
  const remedy = '`belay approvals` lists what is asked';
  throw new BelayError('NotFound', `${handle.workflowId} is not a run or rollout but a ${type}: ${remedy}`);
}

/** Temporal answered just before, so it is a worker that is missing: its last poll may be a minute old. */
const silent = (workflowId: string): BelayError =>
  new BelayError('NoWorker', `no worker answers for ${workflowId} now: ${NO_WORKER_REMEDY}`);

async function list(session: Session): Promise<ApprovalQuestion[]> {
  const { client, taskQueue } = session;
  const query = [
    `WorkflowType IN (${ASKING_TYPES.map(quoted).join(', ')})`,
    `BelayPhase = 'approval'`,
    `TaskQueue = ${quoted(taskQueue)}`,
    `ExecutionStatus = 'Running'`,
  ].join(' AND ');
  const waiting: WorkflowHandle[] = [];
  for await (const { workflowId, runId } of client.workflow.list({ query })) {
    waiting.push(client.workflow.getHandle(workflowId, runId));
  }
  if (waiting.length === 0) return [];
  await requireWorkers(session);
  // One that does not answer must not hide the others.
  const asked = await pMap(waiting, (handle) => askedNow(handle).catch(() => null), IN_PARALLEL);
  return asked.filter((it) => it !== null).sort((a, b) => a.plan.askedAt.localeCompare(b.plan.askedAt));
}
