/** Reads never time out, so anything that waits for a read that hangs waits forever. */
import { TIMING as REAL } from '../../../src/contract/timing.ts';

const HOUR = 3_600_000;

export const TIMING: typeof REAL = {
  ...REAL,
  read: { ...REAL.read, answerMs: HOUR, activityMs: HOUR + 1_000 },
};
