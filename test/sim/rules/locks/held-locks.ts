/** How tests of locks come to a run that holds one, and to runs that wait for it. */
import assert from 'node:assert/strict';
import { SIGNALS } from '../../../../src/contract/names.ts';
import type { Waiter } from '../../../../src/contract/operation.ts';
import type { DeploymentResult, RunInput } from '../../../../src/contract/run.ts';
import { backupServerId, deploySiteId } from '../../../../src/contract/ids.ts';
import type { Kind, ScriptPart } from '../../../../src/sandbox/script.ts';
import { fresh } from '../../../support/fresh.ts';
import { began } from '../../../support/journal.ts';
import { lockRequests } from '../../stack/inspect.ts';
import type { VirtualStack } from '../../stack/stack.ts';
import type { Run } from '../../temporal/types.ts';

/** What happens at once takes less, and a run that has to look for itself takes longer. */
export const AT_ONCE_MS = 500;

export interface HeldLock {
  /** The site or server. */
  id: string;
  lockId: string;
  holder: Run;
  begun: () => number;
  /** How many requests for the lock its holder has received. */
  requests: () => number;
  /** Starts another run for the lock. */
  start: (more?: Partial<RunInput>) => Run;
  /** Starts another run, and lets time pass until it waits and the holder knows it. */
  queueUp: (more?: Partial<RunInput>) => Promise<Run>;
  /** Ends what the holder waits for. */
  finish: (word?: 'completed' | 'failed') => void;
}

/**
 * Starts a run that holds the lock until `finish`.
 * @param next the scripts of the later operations
 */
export async function held(
  stack: VirtualStack,
  kind: Kind,
  next: ScriptPart[] = [{}],
  more: Partial<RunInput> = {},
): Promise<HeldLock> {
  const { world, sandbox, until } = stack;
  const id = fresh(kind === 'backup' ? 's' : 'a');
  const lockId = kind === 'backup' ? backupServerId(id) : deploySiteId(id);
  const target = kind === 'backup' ? { server: id } : { site: id };
  const asked: RunInput = kind === 'backup' ? { serverId: id, siteIds: [] } : { siteIds: [id] };
  sandbox.script(target, { ends: 'never' }, ...next);
  const start: HeldLock['start'] = (more) => stack.start({ ...asked, ...more });
  const begun = () => began(sandbox, kind, id).length;
  const requests = () => lockRequests(world.server.find(lockId));
  const holder = start(more);
  await until(`the ${kind}`, () => begun() === 1);
  return {
    ...{ id, lockId, holder, begun, requests, start },
    async queueUp(more) {
      const before = requests();
      const run = start(more);
      await until('its request', () => requests() > before && isWaiting(run));
      return run;
    },
    finish: (word = 'completed') => sandbox.finish(target, word),
  };
}

/** Its only timer is that until it looks at the holder. */
export const isWaiting = (run: Run): boolean => run.timers.size > 0;

/** Starts runs that wait for the lock in this order. */
export async function queueOf({ queueUp }: HeldLock, count: number): Promise<Run[]> {
  const runs: Run[] = [];
  while (runs.length < count) runs.push(await queueUp());
  return runs;
}

export const asWaiter = ({ workflowId, runId }: Run, sinceMs: number): Waiter => ({
  ...{ workflowId, runId, since: new Date(sinceMs).toISOString() },
});

/** Asks for the lock on behalf of a run. */
export const request = (stack: VirtualStack, lockId: string, waiters: Waiter[]): void =>
  stack.signal(lockId, SIGNALS.lockRequested, { waiters });

export async function outcomes({ result }: VirtualStack, runs: readonly Run[]): Promise<string[]> {
  const results = [];
  for (const run of runs) results.push(await result(run));
  return results.map(({ outcome }) => outcome ?? 'none');
}

/** When a run's deployment held the lock, by the clock of the workflow. */
export function span({ deployments: [it] }: { deployments: DeploymentResult[] }): { fromMs: number; toMs: number } {
  assert.ok(it?.startedAt && it.endedAt, 'it held no lock');
  return { fromMs: Date.parse(it.startedAt), toMs: Date.parse(it.endedAt) };
}

/** Lets time pass until they have closed, and asserts that each handed its lock to the next one. */
export async function assertHandedOver({ result }: VirtualStack, runs: readonly Run[]): Promise<void> {
  const spans = [];
  for (const run of runs) spans.push(span(await result(run)));
  for (const [index, { fromMs }] of spans.slice(1).entries()) {
    const freeMs = fromMs - spans[index]!.toMs;
    assert.ok(freeMs >= 0 && freeMs < AT_ONCE_MS, `run ${index + 2} began ${freeMs} ms after run ${index + 1} ended`);
  }
}
