/** Reads never time out, so anything that waits for a read that hangs waits forever. Only workers that stop do not. */
import { TIMING as REAL } from '../../../src/contract/timing.ts';

const HOUR = 3_600_000;

export const TIMING: typeof REAL = {
  ...REAL,
  worker: { ...REAL.worker, shutdownGraceMs: 1_000, shutdownForceMs: 4_000 },
  read: { ...REAL.read, answerMs: HOUR, activityMs: HOUR + 1_000 },
};
