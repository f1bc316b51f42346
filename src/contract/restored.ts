/**
 * Epochs: after a restore, Temporal's database has forgotten what was sent, so nothing older sends anything. Pure. People
 * and `belay doctor` recognize such an end by its text.
 */

const OTHER_EPOCH = 'and BELAY_EPOCH is now';
export const MAYBE_RESTORED = 'Temporal may have been restored meanwhile';

export const isFromRestore = (message: string): boolean =>
  message.includes(OTHER_EPOCH) || message.includes(MAYBE_RESTORED);

/** What a run or rollout knows of the epoch it belongs to. */
export interface EpochFacts {
  /** The epoch that its starter saw. */
  epoch?: string | undefined;
  beganMs: number;
}

/** Why something may have been done before a restore, or null. @param current the workers' epoch */
export function otherEpoch({ epoch, beganMs }: EpochFacts, current: string): string | null {
  if (epoch !== undefined) return epoch === current ? null : restored(`in epoch ${epoch}`, current);
  const sinceMs = beginOf(current);
  if (sinceMs === null || beganMs >= sinceMs) return null;
  return restored(`at ${new Date(beganMs).toISOString()}`, current);
}

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?Z$/;

/** An epoch that is a time shows what was before it, even of what recorded no epoch. */
function beginOf(epoch: string): number | null {
  const beginMs = INSTANT.test(epoch) ? Date.parse(epoch) : NaN;
  return Number.isNaN(beginMs) ? null : beginMs;
}

function restored(when: string, current: string): string {
  return (
    `nothing was sent: this began ${when}, ${OTHER_EPOCH} ${current}, so Temporal's database was restored ` +
    'since: check at the service whether it was done, then start a new run'
  );
}
