/** Polls until a final status is known to be that of our deployment. */
import type { DeploymentResult } from '../../contract/run.ts';
import { targetText } from '../../contract/target.ts';
import { COMPLETED, conclude, type Conclusion } from '../conclusion.ts';
import type { Reader } from '../polling/status-reader.ts';
import { createPollSchedule, jitterMs } from '../../rules/poll-schedule.ts';
import {
  contradicts,
  decideVerdict,
  observe,
  startRow,
  strongestEvidence,
  type VerdictContext,
  type Observations,
  type StatusReading,
  type Verdict,
} from '../../rules/verdict.ts';
import { answeredMs } from '../../rules/trigger-policy.ts';
import type { Check } from './hooks.ts';
import { concludeInterrupted, pollUntil } from '../polling/poll-until.ts';
import { describeLastStatus, noteProgress, type Poller } from '../polling/poller.ts';
import { TIMING } from '../../contract/timing.ts';
import type { ReadFailure } from '../../contract/activities.ts';
import type { Operation } from './run-operation.ts';
import type { DeploySiteInput } from '../../contract/operation.ts';

export interface Followed {
  poller: Poller;
  result: DeploymentResult;
  reader: Reader;
  intervalMs: number;
  tries: number;
  /** Delays every try. */
  jitterMs: number;
  /** Nothing was triggered, so `no deployment yet` is an answer. */
  notFoundAnswers?: boolean;
  check?: Check | undefined;
}

/** What earlier reads showed. */
export interface Start {
  seen: Observations;
  reading: StatusReading | null;
  /** When the request was scheduled; absent if there was none, or long ago. */
  sentMs?: number;
}

/** An event reports that the site was deleted, and the service no longer finds it. */
interface Deleted {
  kind: 'deleted';
  message: string;
}

/** For messages about an id that does not change. */
export const ID_FIELD_REMEDY =
  'if that is not the id of a deployment, name the field that is, or none, as deploymentId in belay.yaml';

export async function awaitVerdict(followed: Followed, given: VerdictContext, start: Start): Promise<Conclusion> {
  const { poller, result, reader, intervalMs, tries, jitterMs, notFoundAnswers = false } = followed;
  const nowMs = Date.now();
  let context = given;
  let seen = startRow(start.seen, nowMs);
  let { reading } = start;
  const decide = (latest: StatusReading, own: boolean): Verdict => {
    const at = { own, nowMs: Date.now(), shownBySite: followed.check?.shown ?? null };
    // A watch sends no request. The page proves that the deployment began, so a status can settle from here on.
    if (!context.accepted && at.shownBySite === 'identity') {
      context = { ...context, accepted: true };
      seen = startRow(seen, at.nowMs);
    }
    reading = latest;
    seen = observe(context, seen, latest, at);
    // A row lasts until its last read was answered: the workflow may have heard of it much later.
    const answered = { ...at, nowMs: answeredMs(latest, at.nowMs) };
    result.evidence = strongestEvidence(context, seen, latest, answered);
    return decideVerdict(context, seen, latest, answered);
  };
  // Its id may be that in the answer to the trigger, which came later.
  const early = reading === null ? null : decide(reading, false);
  if (early !== null) return concludeFromVerdict(followed, early);
  const earlyMs = earlyReadsMs(intervalMs, nowMs, start.sentMs ?? nowMs);
  const polled = await pollUntil<NonNullable<Verdict> | Deleted>(
    poller,
    {
      what: 'deployment',
      reader,
      schedule: createPollSchedule(nowMs, intervalMs, { earlyMs, jitterMs }),
      tries,
      notFoundAnswers,
      afterOutage() {
        // The service may have done nothing meanwhile, and still show the status from before the trigger.
        seen = startRow(seen, Date.now());
      },
    },
    (answer, own) => {
      if (!answer.ok) return deletion(poller, result, answer);
      noteProgress(result, answer);
      const verdict = decide(answer, own);
      if (verdict === null && answer.state !== 'in_progress') followed.check?.look(() => poller.hints.ask(Date.now()));
      return verdict ?? undefined;
    },
  );
  const name = `the deployment of ${targetText(result.target)}`;
  switch (polled.kind) {
    case 'decided':
      if (polled.value.kind === 'deleted')
        return conclude('unknown', 'ResourceDeleted', `${name}: ${polled.value.message}`);
      return concludeFromVerdict(followed, polled.value);
    case 'given_up':
    case 'cancelled':
      return concludeInterrupted(poller, name, polled);
    default:
      return concludeExhausted(followed, reading, seen);
  }
}

/**
 * Delays of the early reads. If the request was answered quickly, they are counted from the time it was scheduled, so
 * that the timer of the reads beside it serves the first of them, too.
 */
function earlyReadsMs(intervalMs: number, nowMs: number, sentMs: number): number[] {
  const delays = TIMING.poll.earlyReadsMs.filter((ms) => ms < intervalMs);
  const passedMs = nowMs - sentMs;
  return passedMs < TIMING.poll.earlyReadsMs[0] ? delays.map((ms) => ms - passedMs) : delays;
}

function deletion({ hints }: Poller, { siteId }: DeploymentResult, { httpStatus }: ReadFailure): Deleted | undefined {
  const event = siteId === null ? null : hints.deletedSite(siteId);
  if (event === null || (httpStatus !== 404 && httpStatus !== 410)) return undefined;
  return {
    kind: 'deleted',
    message: `the site was deleted according to ${event}, and the service answers ${httpStatus}`,
  };
}

function concludeFromVerdict({ poller, result }: Followed, verdict: NonNullable<Verdict>): Conclusion {
  result.evidence = verdict.evidence;
  const name = `the deployment of ${targetText(result.target)}`;
  const reported = `the service reports ${describeLastStatus(poller)}`;
  if (verdict.kind === 'unproven') {
    return conclude(
      'unknown',
      'OutcomeUnknown',
      `${name}: ${reported}, with no better evidence than "${verdict.evidence}"`,
    );
  }
  if (verdict.outcome === 'completed') return COMPLETED;
  return conclude('failed', 'DeploymentFailed', `${name} failed: ${reported}`);
}

function concludeExhausted(
  { poller, result, tries }: Followed,
  reading: StatusReading | null,
  { standing }: Observations,
): Conclusion {
  const name = `the deployment of ${targetText(result.target)}`;
  const state = `after ${tries} tries, last status ${describeLastStatus(poller)}`;
  const unknown = (why: string) => conclude('unknown', 'OutcomeUnknown', `${name}: ${why}`);
  if (reading === null)
    return conclude('timed_out', 'DeploymentTimedOut', `${name} had not started after ${tries} tries`);
  if (standing === 'another') return unknown(`the service shows a deployment with another id ${state}`);
  if (reading.state === 'in_progress' && !contradicts(standing))
    return conclude('timed_out', 'DeploymentTimedOut', `${name} had not finished ${state}`);
  if (standing === 'before' || standing === 'kept')
    return unknown(`the service shows the id of the deployment before ${state}; ${ID_FIELD_REMEDY}`);
  if (result.evidence !== null) return unknown(`no better evidence than "${result.evidence}" ${state}`);
  if (standing === 'third') return unknown(`the service shows an id that its answer to the request had not ${state}`);
  return unknown(`the final status is the same as before, with no sign of a new deployment ${state}`);
}

/* What the steps of one deployment share. */

export interface Deployment {
  operation: Operation<DeploymentResult>;
  input: DeploySiteInput;
  reader: Reader;
  check: Check | undefined;
}

export function followed({ operation, input, reader, check }: Deployment): Followed {
  const { intervalMs, tries, jitter } = input;
  return {
    poller: operation,
    result: operation.result,
    reader,
    intervalMs,
    tries,
    jitterMs: jitterMs(intervalMs, jitter),
    check,
  };
}
