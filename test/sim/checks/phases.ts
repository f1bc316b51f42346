/** The phases that a history shows, in order. */
import { defaultPayloadConverter as payloads } from '@temporalio/common';
import type { Run } from '../temporal/types.ts';

export interface ShownPhase {
  /** Of the event. */
  id: number;
  phase: string;
  atMs: number;
}

export function phasesOf({ history }: Pick<Run, 'history'>): ShownPhase[] {
  return history.flatMap((event) => {
    const value = event.kind === 'attributes' ? event.fields.BelayPhase : undefined;
    return value === undefined ? [] : [{ id: event.id, phase: payloads.fromPayload<string>(value), atMs: event.atMs }];
  });
}

export const wasParked = (run: Pick<Run, 'history'>): boolean => phasesOf(run).some(({ phase }) => phase === 'parked');

/** When its last wait for the service ended; null if it never waited for it, or never went on. */
export function resumedMs(run: Pick<Run, 'history'>): number | null {
  const phases = phasesOf(run);
  const parked = phases.findLastIndex(({ phase }) => phase === 'parked');
  return parked === -1 ? null : (phases[parked + 1]?.atMs ?? null);
}
