/** Runs that wait for a freeze, for tests. */
import type { RunInput } from '../../../../../src/contract/run.ts';
import { fresh } from '../../../../support/fresh.ts';
import { posts } from '../../../../support/journal.ts';
import { COMPLETED, FAILED, siteAfter } from '../../../../support/sites.ts';
import type { VirtualStack } from '../../../stack/stack.ts';
import type { Run } from '../../../temporal/types.ts';
import { phaseOf } from '../runs-that-wait.ts';

export interface Waiting {
  run: Run;
  siteId: string;
  serverId: string;
}

export function startWaiting(stack: VirtualStack, more: Partial<RunInput> = {}): Waiting {
  const [serverId, siteId] = [fresh('s'), siteAfter(stack.sandbox, FAILED, COMPLETED)];
  return { serverId, siteId, run: stack.start({ serverId, siteIds: [siteId], ifFrozen: 'wait', ...more }) };
}

export const isWaiting = (stack: VirtualStack, { run }: Pick<Waiting, 'run'>) =>
  stack.until('its wait', () => phaseOf(stack, run.workflowId) === 'frozen');

export const sentMs = ({ sandbox }: VirtualStack, siteId: string) =>
  Date.parse(posts(sandbox, `/v1/sites/${siteId}/deploy`)[0]?.at ?? '');
