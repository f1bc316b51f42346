/** What the histories of the simulator show. */
import { defaultPayloadConverter as payloads, type Payload } from '@temporalio/common';
import { SIGNALS } from '../../../src/contract/names.ts';
import type { HistoryEvent } from '../core/events.ts';
import type { Run } from '../temporal/types.ts';

/** The latest value of a search attribute, or null. */
export function searchAttribute(run: Run | undefined, name: string): unknown {
  const event = run?.history.findLast((it) => it.kind === 'attributes' && name in it.fields);
  if (event?.kind !== 'attributes') return null;
  return payloads.fromPayload(event.fields[name] as Payload);
}

export const eventsOf = <K extends HistoryEvent['kind']>(run: Run, kind: K) =>
  run.history.filter((it): it is Extract<HistoryEvent, { kind: K }> => it.kind === kind);

/** How many requests for the lock its holder has received. */
export const lockRequests = (holder: Run | undefined): number =>
  holder?.history.filter((it) => it.kind === 'signaled' && it.signal === SIGNALS.lockRequested).length ?? 0;
