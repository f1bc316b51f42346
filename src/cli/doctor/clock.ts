/** Whether another clock agrees with ours. */
import type { Finding } from './check.ts';

/** A trigger isn't sent more than 3 s after it was scheduled, by Temporal's clock and the worker's. */
const TOLERANCE_MS = 2_000;

export function clockFinding(whose: string, theirMs: number): Finding {
  const aheadMs = Date.now() - theirMs;
  const message = `this machine is ${Math.abs(aheadMs / 1000).toFixed(1)} s ${aheadMs >= 0 ? 'ahead of' : 'behind'} ${whose}`;
  if (Math.abs(aheadMs) <= TOLERANCE_MS) return { state: 'ok', message };
  return {
    state: 'attention',
    message,
    remedy: 'keep the clocks by NTP: triggers are not sent by a worker that is ahead',
  };
}
