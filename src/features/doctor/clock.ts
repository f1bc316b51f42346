/** Compares another clock with the one of this machine. */
import type { Finding } from '../../cli/doctor-check.ts';
import { clockDifference } from '../../contract/clock-difference.ts';
import { TIMING } from '../../contract/timing.ts';

export function clockFinding(whose: string, theirMs: number): Finding {
  const aheadMs = Date.now() - theirMs;
  const message = clockDifference(whose, aheadMs);
  if (Math.abs(aheadMs) <= TIMING.doctor.clockToleranceMs) return { state: 'ok', message };
  return {
    state: 'warning',
    message,
    remedy: 'synchronize the clocks with NTP: the times in logs and lists differ from those of runs',
  };
}
