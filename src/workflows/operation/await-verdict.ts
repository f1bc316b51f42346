/** Polls until a final status is known to be that of our deployment. */
import type { DeploymentResult } from '../../contract/run.ts';
import { targetText } from '../../contract/target.ts';
import { COMPLETED, conclude, type Conclusion } from '../conclusion.ts';
import type { Reader } from '../polling/status-reader.ts';
import { wasReset } from '../reset.ts';
import { createPollSchedule, jitterMs } from '../../rules/poll-schedule.ts';
import {
  contradicts,
  hasLostIdsTooEarly,
  isIdentified,
  ID_FIELD_REMEDY,
  NEVER_SHOWN_REMEDY,
  judge,
  startRow,
  type VerdictContext,
  type Observations,
  type StatusReading,
  type Trace,
  type Verdict,
} from '../../rules/verdict.ts';
import { answeredMs } from '../../rules/poll-state.ts';
import type { DeploymentCheck } from './hooks.ts';
import { concludeInterrupted, pollUntil, type Cause } from '../polling/poll-until.ts';
import { describeLastStatus, type Poller } from '../polling/poller.ts';
import { TIMING } from '../../contract/timing.ts';
import type { AnswerWithIds, ReadFailure } from '../../contract/activities.ts';
import type { DeploySiteInput } from '../../contract/operation.ts';

/** A deployment that an operation requested, or that a run watches. */
export interface Followed {
  operation: Poller<DeploymentResult>;
  input: Pick<DeploySiteInput, 'intervalMs' | 'tries' | 'jitter' | 'waits'>;
  reader: Reader;
  check: DeploymentCheck | undefined;
}

export interface Start {
  seen: Observations;
  trace: Trace | null;
  /** When the request was scheduled; absent if there was none, or long ago. */
  sentMs?: number;
}

type Wanted = Pick<DeploySiteInput, 'target' | 'serverId' | 'settleMs' | 'minEvidence'>;

export function verdictContext(
  { settleMs, minEvidence, target, serverId }: Wanted,
  baseline: StatusReading | null,
  earlierAnswers: readonly AnswerWithIds[] = [],
): VerdictContext {
  const otherIds = serverId === undefined ? [target.id] : [target.id, serverId];
  return { baseline, accepted: false, triggerIds: {}, earlierAnswers, otherIds, settleMs, minEvidence };
}

export async function awaitVerdict(followed: Followed, given: VerdictContext, start: Start): Promise<Conclusion> {
  const { operation, input, reader, check } = followed;
  const { result } = operation;
  const nowMs = Date.now();
  let context = given;
  let seen = startRow(start.seen, nowMs);
  let reading = start.trace?.reading ?? null;
  const decide = (latest: StatusReading, cause: Cause, doubt: Trace['doubt'] = null): Conclusion | undefined => {
    const known = { context, seen, reading, evidence: result.evidence };
    const nowMs = Date.now();
    const shownBySite = check?.shown ?? null;
    // A watch sends no request. The page proves that the deployment began, so a status can settle from here on.
    if (!context.accepted && shownBySite === 'identity') {
      context = { ...context, accepted: true };
      seen = startRow(seen, nowMs);
    }
    reading = latest;
    const at = { own: cause === 'due', nowMs, answeredMs: answeredMs(latest, nowMs), shownBySite };
    const judged = judge(context, seen, latest, at);
    seen = judged.seen;
    result.evidence = judged.evidence;
    const isUnproven = judged.verdict?.kind === 'unproven' && context.minEvidence === 'identity';
    const mayProve = isUnproven && latest.state === 'completed' && check?.awaitsIdentity() === true;
    const verdict = mayProve ? null : judged.verdict;
    if (verdict === null && cause === 'beside') {
      ({ context, seen, reading } = known);
      result.evidence = known.evidence;
    }
    if (verdict === null || (doubt !== null && verdict.evidence === 'changed')) return undefined;
    result.lastStatus = latest.status;
    return concludeFromVerdict(operation, verdict, isIdentified(context, latest));
  };
  // The trace was read before the trigger was answered. The answer may have the same id, and then the trace decides.
  const early = start.trace === null ? undefined : decide(start.trace.reading, 'hinted', start.trace.doubt);
  if (early !== undefined) return early;
  const earlyMs = earlyReadsMs(input.intervalMs, nowMs, start.sentMs ?? nowMs);
  const polled = await pollUntil<Conclusion>(
    operation,
    {
      what: 'deployment',
      reader,
      schedule: createPollSchedule(nowMs, input.intervalMs, { earlyMs, jitterMs: jitterMs(input) }),
      tries: input.tries,
      waits: input.waits,
      // Before any request, `no deployment yet` is an answer.
      acceptsNoDeployment: result.trigger.attempts === 0,
      afterOutage() {
        // The service may have done nothing meanwhile, and still show the status from before the trigger.
        seen = startRow(seen, Date.now());
      },
    },
    (answer, cause) => {
      if (!answer.ok) return concludeDeleted(operation, answer);
      const conclusion = decide(answer, cause);
      if (conclusion === undefined && answer.state !== 'in_progress')
        check?.look(() => operation.hints.ask(Date.now()));
      return conclusion;
    },
  );
  if (polled.kind === 'decided') return polled.value;
  if (polled.kind === 'given_up' || polled.kind === 'cancelled')
    return concludeInterrupted(operation, nameOf(result), polled);
  return concludeExhausted(operation, input.tries, reading, seen, context);
}

const nameOf = ({ target }: DeploymentResult): string => `the deployment of ${targetText(target)}`;

/**
 * Delays of the early reads. If the request was answered quickly, they are counted from the time it was scheduled, so
 * that the timer that still runs from the reads beside it also serves the first of them.
 */
function earlyReadsMs(intervalMs: number, nowMs: number, sentMs: number): number[] {
  const delays = TIMING.poll.earlyReadsMs.filter((ms) => ms < intervalMs);
  const passedMs = nowMs - sentMs;
  return passedMs < TIMING.poll.earlyReadsMs[0] ? delays.map((ms) => ms - passedMs) : delays;
}

/** An event reports that the site was deleted, and the service no longer finds it. */
function concludeDeleted(
  { hints, result }: Poller<DeploymentResult>,
  { httpStatus }: ReadFailure,
): Conclusion | undefined {
  const event = result.siteId === null ? null : hints.claimed('resource.deleted', result.siteId);
  if (event === null || (httpStatus !== 404 && httpStatus !== 410)) return undefined;
  const message = `the site was deleted according to ${event}, and the service answers ${httpStatus}`;
  return conclude('unknown', 'ResourceDeleted', `${nameOf(result)}: ${message}`);
}

function concludeFromVerdict(
  poller: Poller<DeploymentResult>,
  verdict: NonNullable<Verdict>,
  isOurs: boolean,
): Conclusion {
  const { result } = poller;
  result.evidence = verdict.evidence;
  const name = nameOf(result);
  const reported = `the service reports ${describeLastStatus(poller)}`;
  if (verdict.kind === 'unproven') {
    const message = `${name}: ${reported}, with no better evidence than "${verdict.evidence}"`;
    return conclude('unknown', 'OutcomeUnknown', message);
  }
  if (mayBeLater(result, isOurs)) return conclude('unknown', 'OutcomeUnknown', `${name}: ${reported}, ${MAY_BE_LATER}`);
  if (verdict.outcome === 'completed') return COMPLETED;
  return conclude('failed', 'DeploymentFailed', `${name} failed: ${reported}`);
}

const MAY_BE_LATER = 'but the workflow was reset, so a later deployment may have that status';

/** The page of a site does not tell a later deployment of the same commit from ours. */
const mayBeLater = ({ trigger }: DeploymentResult, isOurs: boolean): boolean =>
  trigger.attempts > 0 && !isOurs && wasReset();

function concludeExhausted(
  poller: Poller<DeploymentResult>,
  tries: number,
  reading: StatusReading | null,
  seen: Observations,
  context: VerdictContext,
): Conclusion {
  const { standing, ids } = seen;
  const { baseline, idsAreNamed = false } = context;
  const { evidence } = poller.result;
  const name = nameOf(poller.result);
  const state = `after ${tries} tries, last status ${describeLastStatus(poller)}`;
  const unknown = (why: string) => conclude('unknown', 'OutcomeUnknown', `${name}: ${why}`);
  if (reading === null)
    return conclude('timed_out', 'DeploymentTimedOut', `${name} had not started after ${tries} tries`);
  if (standing === 'another') {
    const remedy = ids.isTriggers ? '' : `; ${idsAreNamed ? NEVER_SHOWN_REMEDY : ID_FIELD_REMEDY}`;
    return unknown(`the service shows a deployment with another id ${state}${remedy}`);
  }
  if (reading.state === 'in_progress' && mayBeLater(poller.result, isIdentified(context, reading)))
    return unknown(`it had not finished ${state}, ${MAY_BE_LATER}`);
  if (reading.state === 'in_progress' && !contradicts(standing))
    return conclude('timed_out', 'DeploymentTimedOut', `${name} had not finished ${state}`);
  if (standing === 'before' || standing === 'kept')
    return unknown(`the service shows the id of the deployment before ${state}; ${ID_FIELD_REMEDY}`);
  if (hasLostIdsTooEarly(context, seen, reading, Date.now()))
    return unknown(
      `the service no longer shows an id in the same field, and that has not lasted for the settle time ${state}`,
    );
  if (evidence !== null) return unknown(`no better evidence than "${evidence}" ${state}`);
  if (standing === 'third') return unknown(`the service shows an id that its answer to the request had not ${state}`);
  if (baseline === null)
    return unknown(`there was no deployment before, and the final status has not lasted for the settle time ${state}`);
  return unknown(`the final status is the same as before, with no sign of a new deployment ${state}`);
}
