/** Receipts of closed runs and rollouts, from Temporal's records. */
import type { WorkflowExecutionDescription } from '@temporalio/client';
import { ROLLOUT_TYPE, RUN_TYPES } from '../../contract/names.ts';
import type { Receipt } from './shapes.ts';
import { BelayError } from '../../contract/errors.ts';
import { TIMING } from '../../contract/timing.ts';
import { quoted } from '../../client/list-filter.ts';
import type { Session } from '../../client/session.ts';
import { toBelayError } from '../../client/to-belay-error.ts';
import { within } from '../../client/within.ts';
import { rolloutReceipt } from './rollout-receipt.ts';
import { runReceipt } from './run-receipt.ts';

/** @throws BelayError, from every call */
export interface Receipts {
  /** Of a run or rollout. @throws BelayError `Usage` while it is in progress */
  get(workflowId: string, runId?: string): Promise<Receipt>;
  /** The runs and rollouts that closed at or after this time, ISO 8601, the latest first. */
  closedSince(since: string): AsyncIterable<{ workflowId: string; runId: string }>;
}

const TYPES: readonly string[] = [...RUN_TYPES, ROLLOUT_TYPE];

export function createReceipts(session: Session): Receipts {
  const { client, taskQueue } = session;
  return {
    get: (workflowId, runId) =>
      bounded(session, workflowId, async () => {
        const described = await describe(session, workflowId, runId);
        if (described.status.name === 'RUNNING')
          throw new BelayError('Usage', `${workflowId} is still running: wait for its end`);
        if (described.type !== ROLLOUT_TYPE) return runReceipt(session, described);
        return rolloutReceipt(session, described, (ofRun) => hashOfRun(session, ofRun));
      }),
    async *closedSince(since) {
      const types = TYPES.map(quoted).join(', ');
      const query = `WorkflowType IN (${types}) AND TaskQueue = ${quoted(taskQueue)} AND CloseTime >= ${quoted(since)}`;
      try {
        for await (const { workflowId, runId } of client.workflow.list({ query })) yield { workflowId, runId };
      } catch (error) {
        throw toBelayError(error, 'list runs');
      }
    },
  };
}

/** Of one run or rollout: a rollout has many runs, and each has its own time. */
const bounded = <T>(session: Session, workflowId: string, act: () => Promise<T>): Promise<T> =>
  within(session, TIMING.client.listMs, `read ${workflowId}`, act);

async function describe(
  { client }: Session,
  workflowId: string,
  runId?: string,
): Promise<WorkflowExecutionDescription> {
  const described = await client.workflow.getHandle(workflowId, runId).describe();
  if (TYPES.includes(described.type)) return described;
  const remedy = 'use the id of a run from `belay list`, or of a rollout from `belay rollout list`';
  throw new BelayError('NotFound', `${workflowId} is a ${described.type}, of which there is no receipt: ${remedy}`);
}

/** Null for a run that goes on without its rollout, and for one that Temporal has deleted. */
function hashOfRun(session: Session, workflowId: string): Promise<string | null> {
  return bounded(session, workflowId, async () => {
    const described = await describe(session, workflowId);
    return described.status.name === 'RUNNING' ? null : (await runReceipt(session, described)).hash;
  }).catch((error: unknown) => {
    if (error instanceof BelayError && error.type === 'NotFound') return null;
    throw error;
  });
}
