/** Waits until a run or rollout has come to a point. */
import type { ApprovalQuestion } from '../../src/features/approvals/shapes.ts';
import type { Rollout, Run } from '../../src/starter.ts';
import { eventually } from '../support/eventually.ts';
import type { Stage } from './stage.ts';

const ANNE = { by: 'anne', why: 'after the sale', proof: { kind: 'none' } } as const;

export const reached = (it: Run | Rollout, phase: string): Promise<true> =>
  eventually(`the phase ${phase}`, async () => (await it.status()).result.phase === phase);

/** That its operation of this kind is in progress at the service, or is looked for there. */
export const waitingFor = (run: Run, kind: string): Promise<true> =>
  eventually(`the wait for ${kind}`, async () => (await run.status()).waiting?.kind === kind);

export const completedServers = (rollout: Rollout, count: number): Promise<true> =>
  eventually(`${count} servers`, async () => (await rollout.status()).result.servers.completed === count);

/** A pause before that would begin no server at all. */
export const startedServer = (rollout: Rollout): Promise<true> =>
  eventually('its first server', async () => (await rollout.status()).result.servers.running > 0);

/** @param before the hash of the question before it */
export const question = ({ belay }: Stage, workflowId: string, before?: string): Promise<ApprovalQuestion> =>
  eventually('the question', async () => {
    // It has no answer before its first task.
    const asked = await belay.approvals.question(workflowId).catch(() => null);
    return asked === null || asked.hash === before ? null : asked;
  });

export async function decided(
  stage: Stage,
  decision: 'approve' | 'reject',
  workflowId: string,
  by: string = ANNE.by,
): Promise<string> {
  const { hash } = await question(stage, workflowId);
  await stage.belay.approvals[decision](workflowId, { ...ANNE, by, plan: hash });
  return hash;
}
