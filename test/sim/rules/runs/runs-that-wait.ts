/** Runs in the middle of their deployment, and what shows how far they are. */
import type { RunInput } from '../../../../src/contract/run.ts';
import { deploySiteId } from '../../../../src/contract/ids.ts';
import type { ScriptPart } from '../../../../src/sandbox/script.ts';
import { began, posts, reads } from '../../../support/journal.ts';
import { FAILED, siteAfter } from '../../../support/sites.ts';
import { searchAttribute } from '../../stack/inspect.ts';
import { MOMENT_MS, type VirtualStack } from '../../stack/stack.ts';

/** Stays in progress until the test finishes it. */
export const BUILDING: ScriptPart = { ends: 'never', words: ['building'] };

export const latest = (siteId: string) => `/v1/sites/${siteId}/deployments/latest`;
export const deployPosts = ({ sandbox }: VirtualStack, siteId: string) =>
  posts(sandbox, `/v1/sites/${siteId}/deploy`).length;
export const begun = ({ sandbox }: VirtualStack, siteId: string) => began(sandbox, 'deployment', siteId).length;

export const phaseOf = ({ world }: VirtualStack, workflowId: string) =>
  searchAttribute(world.server.find(workflowId), 'BelayPhase');

/** A run that waits for its own deployment, which stays in progress. */
export async function building(stack: VirtualStack, more: Partial<RunInput> = {}) {
  const { sandbox, start, until, forward } = stack;
  const siteId = siteAfter(sandbox, FAILED, BUILDING);
  const run = start({ siteIds: [siteId], ...more });
  await until('a read in progress', () => reads(sandbox, latest(siteId)).at(-1)?.said === 'building');
  await forward(MOMENT_MS);
  return { siteId, run, operationId: deploySiteId(siteId) };
}
