/** Receipts of closed runs, from Temporal's records. */
import { RUN_TYPES } from '../../contract/names.ts';
import type { Receipt } from '../../contract/receipt.ts';
import { BelayError } from '../../contract/results/belay-error.ts';
import { TIMING } from '../../contract/budgets/timing.ts';
import { quoted } from '../connection/list-filter.ts';
import type { Session } from '../connection/session.ts';
import { toBelayError } from '../connection/to-belay-error.ts';
import { within } from '../connection/within.ts';
import { describeRun } from '../runs/run-status.ts';
import { runReceipt } from './run-receipt.ts';

/** @throws BelayError, from every call */
export interface Receipts {
  /** @throws BelayError `Usage` while the run is in progress */
  get(workflowId: string, runId?: string): Promise<Receipt>;
  /** The runs that closed at or after this time, ISO 8601, the latest first. */
  closedSince(since: string): AsyncIterable<{ workflowId: string; runId: string }>;
}

export function createReceipts(session: Session): Receipts {
  const { client, taskQueue } = session;
  return {
    get: (workflowId, runId) =>
      within(session, TIMING.client.listMs, `read ${workflowId}`, async () => {
        const described = await describeRun(client.workflow.getHandle(workflowId, runId));
        if (described.status.name !== 'RUNNING') return runReceipt(session, described);
        throw new BelayError('Usage', `${workflowId} is still running: wait for its end`);
      }),
    async *closedSince(since) {
      const types = RUN_TYPES.map(quoted).join(', ');
      const query = `WorkflowType IN (${types}) AND TaskQueue = ${quoted(taskQueue)} AND CloseTime >= ${quoted(since)}`;
      try {
        for await (const { workflowId, runId } of client.workflow.list({ query })) yield { workflowId, runId };
      } catch (error) {
        throw toBelayError(error, 'list runs');
      }
    },
  };
}
