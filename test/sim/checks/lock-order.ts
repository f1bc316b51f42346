/**
 * S5: a lock goes to the run that has waited longest, among those that its sender knows and has not tried. A newcomer may
 * still find the lock free in between. Pure.
 */
import { defaultPayloadConverter as payloads, type Payload } from '@temporalio/common';
import { SIGNALS } from '../../../src/contract/names.ts';
import type { LockReleased, Waiter } from '../../../src/contract/operation.ts';
import type { HistoryEvent } from '../core/events.ts';
import { isOperation, type Run } from '../temporal/types.ts';
import type { World } from '../world.ts';

type Sent = Extract<HistoryEvent, { kind: 'signalInitiated' }>;

export function overtaken({ server: { runs } }: Pick<World, 'server'>): string[] {
  const since = waitingSince(runs);
  return runs.flatMap((run) => {
    const tried = new Set<string>();
    return releasesOf(run).flatMap((event) => {
      const { lockId, waiters } = payloads.fromPayload<LockReleased>(event.input[0]!);
      const { runId } = event.target;
      // What comes in while it is served follows it.
      const isServed = tried.has(runId);
      tried.add(runId);
      const heirSince = since.get(`${lockId}/${runId}`);
      const known = [...waiters, ...(isOperation(run) ? knownTo(run, event) : [])];
      const isEarlier = (it: Waiter) => heirSince !== undefined && !tried.has(it.runId) && it.since < heirSince;
      const earlier = isServed ? undefined : known.find(isEarlier);
      // From now on, those that came with it are the heir's.
      if (isDelivered(run, event)) for (const waiter of waiters) tried.add(waiter.runId);
      if (earlier === undefined) return [];
      return [`S5: ${run.workflowId} passed ${lockId} to ${event.target.workflowId} before ${earlier.workflowId}`];
    });
  });
}

const isDelivered = ({ history }: Run, { id }: HistoryEvent): boolean =>
  history.some((it) => it.kind === 'signalSent' && it.initiatedId === id && it.problem === null);

const releasesOf = ({ history }: Run): Sent[] =>
  history.filter(
    (it): it is HistoryEvent & Sent => it.kind === 'signalInitiated' && it.signal === SIGNALS.lockReleased,
  );

/** Those that an operation knew when it gave this command. */
function knownTo({ history }: Run, { taskId }: Sent): Waiter[] {
  const completed = history[taskId - 1];
  const untilId = completed?.kind === 'taskCompleted' ? completed.startedId : 0;
  return history.flatMap((event) => {
    if (event.kind === 'started') return waitersIn(event.input);
    const isRequest = event.kind === 'signaled' && event.signal === SIGNALS.lockRequested;
    return isRequest && event.id < untilId ? waitersIn(event.input) : [];
  });
}

/** Since when each run has waited for each lock, from all messages. */
function waitingSince(runs: readonly Run[]): Map<string, string> {
  const found = new Map<string, string>();
  const note = (lockId: string, input: Payload[]) => {
    for (const { runId, since } of waitersIn(input)) {
      const key = `${lockId}/${runId}`;
      const known = found.get(key);
      if (known === undefined || since < known) found.set(key, since);
    }
  };
  for (const { workflowId, history } of runs) {
    for (const event of history) {
      if (event.kind === 'started') note(workflowId, event.input);
      else if (event.kind === 'signaled' && event.signal === SIGNALS.lockRequested) note(workflowId, event.input);
      else if (event.kind === 'signaled' && event.signal === SIGNALS.lockReleased)
        note(payloads.fromPayload<LockReleased>(event.input[0]!).lockId, event.input);
    }
  }
  return found;
}

function waitersIn([input]: Payload[]): Waiter[] {
  return input === undefined ? [] : (payloads.fromPayload<{ waiters?: Waiter[] }>(input).waiters ?? []);
}
