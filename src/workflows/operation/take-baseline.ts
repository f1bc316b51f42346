/** Takes the baseline: the latest status just before the trigger, once no other deployment is in progress. */
import type { Deployment } from './trace.ts';
import { targetText } from '../../contract/target.ts';
import { conclude, type Conclusion } from '../conclusion.ts';
import { jitterMs, createPollSchedule } from '../../rules/poll-schedule.ts';
import type { StatusReading } from '../../rules/verdict.ts';
import { pollUntil } from '../polling/poll-until.ts';
import { lateness } from '../../rules/deadline.ts';
import { describeLastStatus } from '../polling/poller.ts';
import { FIRST_READS_MS, watchForNeverDeployed } from '../../rules/never-deployed.ts';
import { HISTORY_BUDGET } from '../../contract/history-budget.ts';
import { hasRoomToSend, NO_ROOM } from './send-until-accepted.ts';
import type { ReadResult } from '../../contract/activities.ts';

/** A null baseline means that the site was never deployed. */
export type Baseline = { baseline: StatusReading | null } | { conclusion: Conclusion };

/** @param busyEndsMs until when to wait for another deployment to end */
export async function takeBaseline({ operation, input, reader }: Deployment, busyEndsMs: number): Promise<Baseline> {
  operation.setPhase('baseline');
  const nowMs = Date.now();
  const delayMs = jitterMs(input);
  const intervalMs = Math.max(input.intervalMs, Math.ceil((busyEndsMs - nowMs) / HISTORY_BUDGET.maxBusyReads));
  const tries = Math.max(0, Math.floor((busyEndsMs - nowMs - delayMs) / intervalMs));
  let answered = false;
  const neverDeployed = watchForNeverDeployed(operation.result.lastStatus === null ? input.admissionRead : 'status');
  const late = () => lateness(input.deadline, Date.now());
  const notStarted = (type: 'Refused' | 'Cancelled' | 'Busy' | 'TooLate', reason: string): Baseline => ({
    conclusion: conclude('not_started', type, `${targetText(input.target)} was not deployed: ${reason}`),
  });
  const polled = await pollUntil<Baseline>(
    operation,
    {
      what: 'baseline',
      reader,
      schedule: createPollSchedule(nowMs, intervalMs, { earlyMs: FIRST_READS_MS, jitterMs: delayMs }),
      tries,
      until: () => !hasRoomToSend() || (operation.parking.current !== null && late() !== null),
    },
    (answer) => {
      answered ||= answer.ok;
      if (answer.ok && answer.state !== 'in_progress') return { baseline: answer };
      if (neverDeployed.isProvenBy(answer)) return { baseline: null };
      // If an earlier read was answered, the token may have been rejected because it is being rotated.
      const refusal = answered ? null : refusalOf(answer);
      return refusal === null ? undefined : notStarted('Refused', refusal);
    },
  );
  switch (polled.kind) {
    case 'decided':
      return polled.value;
    case 'given_up':
      return notStarted('Refused', polled.reason.message);
    case 'cancelled':
      return notStarted('Cancelled', 'cancelled');
    case 'stopped':
      return hasRoomToSend() ? notStarted('TooLate', late() ?? 'it is too late') : notStarted('Busy', NO_ROOM);
    case 'exhausted':
      return notStarted('Busy', busyMessage(describeLastStatus(operation)));
  }
}

/**
 * The message of a failed read that no retry will fix, or null. Only for reads before anything was started.
 * @param notFound whether a 404 is such a failure, because there is nothing to read
 */
export function refusalOf(read: ReadResult, notFound = false): string | null {
  if (read.ok || read.httpStatus === null) return null;
  const { httpStatus } = read;
  if (httpStatus === 404) return notFound ? read.message : null;
  const isTransient = httpStatus >= 500 || [408, 409, 423, 425, 429].includes(httpStatus);
  return isTransient ? null : read.message;
}

function busyMessage(lastStatus: string): string {
  return (
    `another deployment is in progress (last status ${lastStatus}); ` +
    'try again when it has ended, or map the status in belay.yaml if it is final'
  );
}
