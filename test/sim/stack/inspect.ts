/** What the histories of the simulator show. */
import { defaultPayloadConverter as payloads } from '@temporalio/common';
import { SIGNALS } from '../../../src/contract/names.ts';
import type { HistoryEvent } from '../core/events.ts';
import type { Run } from '../temporal/types.ts';

/** The latest value of a search attribute, or null. */
export function searchAttribute(run: Run | undefined, name: string): unknown {
  const values = run?.history.flatMap((it) => {
    const fields = it.kind === 'attributes' ? it.fields : it.kind === 'started' ? it.attributes : {};
    return fields[name] ?? [];
  });
  const latest = values?.at(-1);
  return latest === undefined ? null : payloads.fromPayload(latest);
}

export const eventsOf = <K extends HistoryEvent['kind']>(run: Run, kind: K) =>
  run.history.filter((it): it is Extract<HistoryEvent, { kind: K }> => it.kind === kind);

/** How many requests for the lock its holder has received. */
export const lockRequests = (holder: Run | undefined): number =>
  holder?.history.filter((it) => it.kind === 'signaled' && it.signal === SIGNALS.lockRequested).length ?? 0;
