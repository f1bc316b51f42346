/** The receipt of a closed run: what its history and those of its operations show. */
import type { WorkflowExecutionDescription } from '@temporalio/client';
import type { Receipt } from './shapes.ts';
import { receiptOf } from './chain.ts';
import { entriesOf } from './entries.ts';
import type { Session } from '../../client/session.ts';
import { factsIn } from '../../client/runs/run-history.ts';
import { handleOf, statusOf } from '../../client/runs/run-status.ts';
import { answeredIn } from './answered.ts';
import { operationFacts } from './operation-facts.ts';

export async function runReceipt(session: Session, described: WorkflowExecutionDescription): Promise<Receipt> {
  const { client } = session;
  const { workflowId, runId, type } = described;
  const { result } = await statusOf(session, described);
  const events = (await handleOf(session, described).fetchHistory()).events ?? [];
  const { input, operations: started } = await factsIn(client, events);
  const operations = await Promise.all(
    started.map(async (it) => ({
      id: it.workflowId,
      ...(await operationFacts(client, client.workflow.getHandle(it.workflowId, it.runId))),
    })),
  );
  // A run of a rollout begins with what was approved for its rollout. Its input can be any JSON.
  const approved = Array.isArray(input?.approved) ? input.approved : [];
  const given = approved.map((it) => ({ ...it, rejection: null }));
  const answered = [...given, ...(await answeredIn(client, events))];
  const known = { namespace: client.options.namespace, type, input, result, answered, operations };
  return receiptOf({ workflowId, runId }, entriesOf({ workflowId, runId }, known));
}
