/** What ad-hoc freezes hold back at an instant. Pure. */
import type { BlockedAction, FrozenBy, LetOff, RunningFreeze } from './shapes.ts';
import { unknownEnd } from './worker-rules.ts';

/** Whether a run is let off it. One that was set later under the same id is another one. */
export const isLetOff = ({ workflowId, freeze }: RunningFreeze, letOff: readonly LetOff[]): boolean =>
  freeze !== null &&
  freeze.override !== 'never' &&
  letOff.some(({ name, since }) => name === workflowId && since === freeze.since);

/** @param running those that fit */
export function adHocFrozenBy(running: readonly RunningFreeze[], action: BlockedAction, atMs: number): FrozenBy[] {
  return running.flatMap(({ workflowId: name, freeze }): FrozenBy[] => {
    if (freeze === null)
      return [{ kind: 'freeze', name, reason: 'its memo cannot be read', ...unknownEnd, override: 'never' }];
    const { until, reason, by, blocks, override } = freeze;
    const never = override === 'never' ? { override } : {};
    const isActive = atMs < Date.parse(until) && blocks.includes(action);
    return isActive ? [{ kind: 'freeze', name, reason, until, untilText: utcText(until), by, ...never }] : [];
  });
}

/** It may last for seconds. */
const utcText = (at: string): string => `${at.slice(0, 'yyyy-mm-ddThh:mm:ss'.length).replace('T', ' ')} (UTC)`;
