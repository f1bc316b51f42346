/** The baseline: what the endpoint says just before the trigger, once nobody else's deployment is in progress. */
import type { ReadResult } from '../../contract/run.ts';
import type { Deployment } from './deployment-context.ts';
import { ended, type End } from '../common/conclusion.ts';
import { startBeat } from '../rules/poll-schedule.ts';
import type { Sighting } from '../rules/verdict.ts';
import { wait } from '../polling/poll-until.ts';
import { lastRead } from '../polling/poller.ts';

/** A null baseline: there was no deployment yet. */
export type Baseline = { baseline: Sighting | null } | { end: End };

/** @param busyEndsMs until when somebody else's deployment is waited for */
export async function takeBaseline({ operation, input, read }: Deployment, busyEndsMs: number): Promise<Baseline> {
  operation.enter('baseline');
  const nowMs = Date.now();
  const tries = Math.max(0, Math.floor((busyEndsMs - nowMs) / input.intervalMs));
  let answered = false;
  const end = await wait<Baseline>(
    operation,
    { what: 'baseline', read, beat: startBeat(nowMs, input.intervalMs, [0]), tries },
    (answer) => {
      answered ||= answer.ok;
      if (answer.ok) return answer.state === 'in_progress' ? undefined : { baseline: answer };
      if (answer.httpStatus === 404) return { baseline: null };
      // Once we were let in, a token that is refused may be one that is being swapped.
      const refusal = answered ? null : refusalOf(answer);
      return refusal === null
        ? undefined
        : { end: ended('not_started', 'Refused', notDeployed(input.siteId, refusal)) };
    },
  );
  switch (end.end) {
    case 'judged':
      return end.value;
    case 'given_up':
      return { end: ended('not_started', 'Refused', notDeployed(input.siteId, end.reason.message)) };
    case 'cancelled':
      return { end: ended('not_started', 'Cancelled', notDeployed(input.siteId, 'cancelled')) };
    default:
      return { end: ended('not_started', 'Busy', notDeployed(input.siteId, busyMessage(lastRead(operation)))) };
  }
}

/**
 * The message of a read that will not do better when repeated, before anything was started; or null.
 * @param notFound whether a 404 is one: there is nothing to read
 */
export function refusalOf(read: ReadResult, notFound = false): string | null {
  if (read.ok || read.httpStatus === null) return null;
  const { httpStatus } = read;
  if (httpStatus === 404) return notFound ? read.message : null;
  const passing = httpStatus >= 500 || [408, 409, 423, 425, 429].includes(httpStatus);
  return passing ? null : read.message;
}

function notDeployed(siteId: string, reason: string): string {
  return `site ${siteId} was not deployed: ${reason}`;
}

function busyMessage(lastStatus: string): string {
  return (
    `somebody else's deployment is in progress, last status ${lastStatus}; ` +
    'try again when it has ended, or map the status in belay.yaml if that word is final'
  );
}
