/** What a history shows of the waits for a service that is down. */
import { phasesOf } from '../stack/inspect.ts';
import type { Run } from '../temporal/types.ts';

export const wasParked = (run: Pick<Run, 'history'>): boolean => phasesOf(run).some(({ phase }) => phase === 'parked');

/** When its last wait for the service ended; null if it never waited for it, or never went on. */
export function resumedMs(run: Pick<Run, 'history'>): number | null {
  const phases = phasesOf(run);
  const parked = phases.findLastIndex(({ phase }) => phase === 'parked');
  return parked === -1 ? null : (phases[parked + 1]?.atMs ?? null);
}
