/** How tests of outages come to a run that the service does not answer. */
import { QUERIES } from '../../../../src/contract/names.ts';
import type { OperationProgress } from '../../../../src/contract/operation.ts';
import { deploySiteId } from '../../../../src/contract/ids.ts';
import type { ScriptPart } from '../../../../src/sandbox/script.ts';
import { reads } from '../../../support/journal.ts';
import { COMPLETED, FAILED, siteAfter } from '../../../support/sites.ts';
import { inVirtualTime, type VirtualStack } from '../../stack/stack.ts';
import { BUILDING, deployPosts, latest, phaseOf } from '../runs/runs-that-wait.ts';

export const PATIENT = { outageBudgetMs: 3_600_000 };

/** Backups complete at once. */
export const inOutage = (body: (stack: VirtualStack) => Promise<void>) =>
  inVirtualTime(body, { defaults: { backup: COMPLETED } });

/** Lets time pass until the operation is parked. @returns what it shows then */
export async function parked(stack: VirtualStack, operationId: string): Promise<OperationProgress> {
  await stack.until('the parked operation', () => phaseOf(stack, operationId) === 'parked');
  return stack.query<OperationProgress>(operationId, QUERIES.progress);
}

/** A run that waits for another party's deployment, with a request that then finds no connection. */
export async function beforeRequest(stack: VirtualStack, ...next: ScriptPart[]) {
  const { world, sandbox, start, until } = stack;
  const siteId = siteAfter(sandbox, BUILDING, FAILED, ...next);
  const run = start({ siteIds: [siteId], ...PATIENT });
  await until('the wait for the baseline', () => reads(sandbox, latest(siteId)).length > 1);
  sandbox.act({ site: siteId });
  await until('the baseline', () => reads(sandbox, latest(siteId)).at(-1)?.said === 'failed');
  world.service.isUp = false;
  const operationId = deploySiteId(siteId);
  await until('a request without a connection', () =>
    world.server
      .find(operationId)
      ?.history.some((it) => it.kind === 'activityClosed' && it.type === 'triggerDeployment'),
  );
  return { siteId, run, operationId };
}

/** A run whose request gets no answer, and then the service is down. @param effect when the service shows its effect */
export async function ambiguous(stack: VirtualStack, effect: { lagMs: number } | null) {
  const { world, sandbox, start, until } = stack;
  const siteId = siteAfter(sandbox, FAILED, { ...COMPLETED, ...effect });
  sandbox.fault({ route: 'deploy', target: siteId, effect: effect !== null, answer: { kind: 'none' } });
  const run = start({ siteIds: [siteId], ...PATIENT });
  await until('the request', () => deployPosts(stack, siteId) > 0);
  world.service.isFailing = true;
  return { siteId, run, operationId: deploySiteId(siteId) };
}
