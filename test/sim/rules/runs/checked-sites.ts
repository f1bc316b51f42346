/** What tests of checks need: a site with a check, its past, and a deployment of it. */
import assert from 'node:assert/strict';
import type { RunInput } from '../../../../src/contract/run.ts';
import type { Fault } from '../../../../src/sandbox/faults.ts';
import type { ScriptPart } from '../../../../src/sandbox/script.ts';
import { COMPLETED } from '../../../support/sites.ts';
import { inVirtualTime, type VirtualStack } from '../../stack/stack.ts';
import { SITES_URL } from '../../worker/sites.ts';
import { deployPosts } from './runs-that-wait.ts';

export const [OURS, BEFORE, THIRD] = ['3f2c1ab0d9e8f7a6', 'aaaaaaa0000', '9d9d9d9d9d9d'];
export const OLD: ScriptPart = { ...COMPLETED, commit: BEFORE };
export const NEW: ScriptPart = { ...COMPLETED, commit: OURS };

export const SITE = 'shop';
const CONFIGURATION = {
  sites: { [SITE]: { url: `${SITES_URL}/${SITE}/`, check: 'answers' } },
  checks: { answers: { json: { status: 'ok' }, commit: { json: 'commit' } } },
};

export const page = (answer: Fault['answer'], times = 99): Fault => ({ route: 'page', target: SITE, answer, times });
export const DOWN = { kind: 'status', code: 503 } as const;
export const SILENT = { kind: 'none' } as const;
export const shows = (commit: string | null) =>
  ({ kind: 'body', code: 200, type: 'application/json', text: JSON.stringify({ status: 'ok', commit }) }) as const;

export const pages = ({ sandbox }: VirtualStack) => sandbox.journal.filter(({ by }) => by === 'visitor');

/** Deploys the site after these deployments of before. */
export async function deploy(stack: VirtualStack, past: ScriptPart[], next: ScriptPart, input: RunInput = {}) {
  begin(stack, past, next);
  return endOf(stack, stack.start({ siteIds: [SITE], ...input }));
}

export function begin({ sandbox }: VirtualStack, past: ScriptPart[], next: ScriptPart): void {
  sandbox.script({ site: SITE }, ...past.map((it) => ({ durationMs: 0, ...it })), next);
  past.forEach(() => sandbox.act({ site: SITE }));
}

export async function endOf(stack: VirtualStack, run: ReturnType<VirtualStack['start']>) {
  const result = await stack.result(run);
  const [deployment] = result.deployments;
  assert.equal(deployPosts(stack, SITE), 1);
  return { result, deployment: deployment!, check: deployment!.check, verdict: [result.outcome, result.error?.type] };
}

export const checked = (body: (stack: VirtualStack) => Promise<void>) =>
  inVirtualTime(body, { configuration: CONFIGURATION });
