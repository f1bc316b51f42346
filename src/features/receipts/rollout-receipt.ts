/** The receipt of a closed rollout. What its runs did is in theirs, of which it has the hashes. */
import type { WorkflowExecutionDescription } from '@temporalio/client';
import pMap from 'p-map';
import type { Receipt } from './shapes.ts';
import type { RolloutInput } from '../rollouts/shapes.ts';
import { receiptOf } from './chain.ts';
import { rolloutEntries } from './rollout-entries.ts';
import { decoded } from '../../client/decode-payloads.ts';
import { IN_PARALLEL, type Session } from '../../client/session.ts';
import { rolloutStatus } from '../rollouts/rollout-status.ts';
import { handleOf } from '../../client/runs/run-status.ts';
import { answeredIn } from './answered.ts';

/** @param hashOfRun of the receipt of a run; null if it has none */
export async function rolloutReceipt(
  session: Session,
  described: WorkflowExecutionDescription,
  hashOfRun: (workflowId: string) => Promise<string | null>,
): Promise<Receipt> {
  const { client } = session;
  const { workflowId, runId } = described;
  const handle = handleOf(session, described);
  const { result } = await rolloutStatus(session, handle);
  const events = (await handle.fetchHistory()).events ?? [];
  const started = events[0]?.workflowExecutionStartedEventAttributes;
  const input = await decoded<RolloutInput>(client, started?.input?.payloads);
  const answered = await answeredIn(client, events);
  const targets = await pMap(
    result.targets,
    async (it) => ({ ...it, receipt: it.workflowId === null ? null : await hashOfRun(it.workflowId) }),
    IN_PARALLEL,
  );
  const known = { namespace: client.options.namespace, input, result, answered, targets };
  return receiptOf({ workflowId, runId }, rolloutEntries({ workflowId, runId }, known));
}
