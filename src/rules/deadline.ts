/** Decides until when a run may trigger deployments. An operation that has begun is never cut short. Pure. */
import type { Deadline } from '../contract/operation.ts';
import { durationText } from '../contract/duration.ts';

export interface DeployLimits {
  startedMs: number;
  startDeploysWithinMs: number | null;
  /** When the backup began, as far as known. Null without a backup. */
  backupBeganMs: number | null;
  maxAgeAtDeployMs: number;
  /** The instant that `deploysUntil` means, and its local time for the message. */
  until: { atMs: number; text: string } | null;
}

export function deadlineOf(limits: DeployLimits): Deadline | null {
  const { startedMs, startDeploysWithinMs, backupBeganMs, maxAgeAtDeployMs, until } = limits;
  const all: { atMs: number; reason: string }[] = [];
  if (startDeploysWithinMs !== null) {
    const reason = `the run may trigger deployments within ${durationText(startDeploysWithinMs)} of its start`;
    all.push({ atMs: startedMs + startDeploysWithinMs, reason });
  }
  if (backupBeganMs !== null) {
    const reason = `the backup may be at most ${durationText(maxAgeAtDeployMs)} old`;
    all.push({ atMs: backupBeganMs + maxAgeAtDeployMs, reason });
  }
  if (until !== null) all.push({ atMs: until.atMs, reason: `deployments may be triggered until ${until.text}` });
  const [first] = all.sort((a, b) => a.atMs - b.atMs);
  return first === undefined ? null : { at: new Date(first.atMs).toISOString(), reason: first.reason };
}

export function whyTooLate(deadline: Deadline | null, nowMs: number): string | null {
  if (deadline === null || nowMs <= Date.parse(deadline.at)) return null;
  return `it is too late, ${deadline.reason}, which was ${deadline.at}`;
}
