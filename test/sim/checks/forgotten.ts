/** S1: before an operation or a run closes, it has passed on every waiter for a lock that it knows. */
import { defaultPayloadConverter as payloads, type Payload } from '@temporalio/common';
import { SIGNALS } from '../../../src/contract/names.ts';
import type { Waiter } from '../../../src/contract/operation.ts';
import type { Run } from '../temporal/types.ts';
import type { World } from '../world.ts';

export function forgotten({ server: { runs } }: World): string[] {
  return runs.flatMap((run) => {
    const { workflowId, closedMs, outcome } = run;
    if (closedMs === null || outcome === 'terminated') return [];
    const passed = passedOn(run);
    const waits = ({ runId }: Waiter) => {
      const waiter = runs.find((it) => it.runId === runId);
      return waiter !== undefined && (waiter.closedMs === null || waiter.closedMs > closedMs);
    };
    return waitersOf(run)
      .filter((waiter) => !passed.has(waiter.runId) && waits(waiter))
      .map((waiter) => `S1: ${workflowId} closed and had not passed on ${waiter.workflowId}, which waits for a lock`);
  });
}

const isOfLocks = (signal: string) => signal === SIGNALS.lockRequested || signal === SIGNALS.lockReleased;

function waitersOf({ history }: Run): Waiter[] {
  return history.flatMap((event) =>
    event.kind === 'started' || (event.kind === 'signaled' && isOfLocks(event.signal)) ? waitersIn(event.input) : [],
  );
}

/** The ids of those that an operation or another run knows now, and of itself. */
function passedOn({ runId, history }: Run): Set<string> {
  const passed = new Set([runId]);
  const add = (input: Payload[]) => waitersIn(input).forEach((waiter) => passed.add(waiter.runId));
  for (const event of history) {
    if (event.kind === 'childInitiated') {
      if (history.some((it) => it.kind === 'childStarted' && it.seq === event.seq)) add(event.input);
    } else if (event.kind === 'signalInitiated' && isOfLocks(event.signal)) {
      const sent = history.find((it) => it.kind === 'signalSent' && it.initiatedId === event.id);
      if (sent?.kind !== 'signalSent' || sent.problem === 'absent') continue;
      passed.add(event.target.runId);
      add(event.input);
    }
  }
  return passed;
}

function waitersIn([input]: Payload[]): Waiter[] {
  if (input === undefined) return [];
  const { waiters } = payloads.fromPayload<{ waiters?: Waiter[] }>(input);
  return waiters ?? [];
}
