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

export interface ShownPhase {
  /** Of the event. */
  id: number;
  phase: string;
  atMs: number;
}

/** The phases that an execution has shown since its start, in order. */
export function phasesOf({ history }: Pick<Run, 'history'>): ShownPhase[] {
  return history.flatMap((event) => {
    const value = event.kind === 'attributes' ? event.fields.BelayPhase : undefined;
    return value === undefined ? [] : [{ id: event.id, phase: payloads.fromPayload<string>(value), atMs: event.atMs }];
  });
}

/** What an execution was started with. */
export function startInput<T>({ history: [started] }: Pick<Run, 'history'>): T {
  if (started?.kind !== 'started') throw new Error('a history begins with its start');
  return payloads.fromPayload<T>(started.input[0]!);
}
