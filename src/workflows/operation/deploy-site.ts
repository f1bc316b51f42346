/** One deployment: takes the baseline, triggers, and polls for our verdict. It is the lock of its target. */
import { HISTORY_BUDGET } from '../../contract/history-budget.ts';
import { lockIdOf } from '../../contract/ids.ts';
import type { AnswerWithIds } from '../../contract/activities.ts';
import type { DeploySiteInput, OperatedDeployment } from '../../contract/operation.ts';
import { emptyDeployment } from '../../contract/results.ts';
import { targetText } from '../../contract/target.ts';
import { targetOrProblem } from '../../request/problems.ts';
import { whyTooLate } from '../../rules/deadline.ts';
import { FIRST_READS_MS, watchForNeverDeployed } from '../../rules/never-deployed.ts';
import { createPollSchedule, jitterMs } from '../../rules/poll-schedule.ts';
import { isUnauthorized, refusalOf } from '../../rules/read-failures.ts';
import { keepAnswer, onlyOfOurs, type StatusReading } from '../../rules/verdict.ts';
import { conclude, concludeUnsent, type Conclusion } from '../conclusion.ts';
import { hasRoom } from '../history.ts';
import { pollUntil } from '../polling/poll-until.ts';
import { describeLastStatus } from '../polling/poller.ts';
import { type Reader, readerOf } from '../polling/status-reader.ts';
import { awaitVerdict, verdictContext } from './await-verdict.ts';
import { firstCheck, type OperationHooks } from './hooks.ts';
import { runOperation } from './run-operation.ts';
import { NO_ROOM, sendUntilAccepted } from './send-until-accepted.ts';
import { reconcile, sendWatched, type Deployment, type Sent } from './trace.ts';

/** The proof that a site was never deployed takes several reads, so reading the status again may never be quick enough. */
const MAX_SITE_BASELINES = 3;

export async function deploySite(input: DeploySiteInput, hooks: OperationHooks): Promise<OperatedDeployment> {
  const target = { ...input.target };
  const result: OperatedDeployment = { ...emptyDeployment(target), startedAt: new Date().toISOString() };
  const lockId = typeof targetOrProblem(target) === 'string' ? null : lockIdOf(target);
  return runOperation(lockId, input, result, hooks, async (operation) => {
    for (const listen of hooks.endings) listen(operation);
    const check = firstCheck(hooks.checks, operation, input);
    const answers = [...(input.earlierAnswers ?? [])];
    const reader = notingAnswers(readerOf(input, { target }), answers);
    const conclusion = await deploy({ operation, input, reader, check }, answers);
    if (conclusion.outcome === 'not_started' && answers.length > 0) result.readAnswers = answers;
    if (result.acceptedAt !== null) result.verdictAt = new Date().toISOString();
    return check === undefined ? conclusion : check.judge(conclusion);
  });
}

/** @param answers gets all answers with ids */
function notingAnswers(reader: Reader, answers: AnswerWithIds[]): Reader {
  return {
    ...reader,
    async read(...how) {
      const answer = await reader.read(...how);
      if (answer.ok) keepAnswer(answers, answer);
      return answer;
    },
  };
}

/** @param answers those with ids, of the run and of this operation until now */
async function deploy(deployment: Deployment, answers: readonly AnswerWithIds[]): Promise<Conclusion> {
  const { operation, input, reader } = deployment;
  const { target } = input;
  const name = targetText(target);
  let baseline: StatusReading | null | undefined;
  let earlierAnswers: AnswerWithIds[] = [];
  let sent: Sent | undefined;
  const end = await sendUntilAccepted(operation, input, {
    what: `deploy ${name}`,
    prefix: `${name}: `,
    cancelledBefore: `cancelled before ${name} was deployed`,
    busyWaitMs: input.baselineWaitMs,
    waitsInDoubt: false,
    probe: { what: 'baseline', reader },
    late: () => whyTooLate(input.deadline, Date.now()),
    async prepare(counts, busyEndsMs) {
      // After an ambiguous trigger, a deployment in progress may be ours, so the first baseline is kept.
      if (baseline === undefined || counts.ambiguous === 0) {
        const taken = await takeBaselines(deployment, busyEndsMs);
        if (taken !== null && 'outcome' in taken) return taken;
        baseline = taken;
        // What was in progress until now was not ours. Nor was what reads showed beside a request without effect.
        operation.result.inProgressAt = null;
        earlierAnswers = [...answers];
      }
      const late = whyTooLate(input.deadline, Date.now());
      if (late !== null) return concludeUnsent(counts, 'TooLate', `${name} was not deployed: ${late}`);
      const { instead } = operation.cancellation;
      if (instead !== null) return instead();
      operation.cancellation.begin();
      return null;
    },
    async post(summary) {
      sent = await sendWatched(deployment, verdictContext(input, baseline ?? null, earlierAnswers), summary);
      return sent.result;
    },
    resolveDoubt: (doubt) => reconcile(deployment, sent!, doubt),
  });
  return end ?? follow(deployment, sent!);
}

/** The request was accepted, or it left a trace. */
function follow(deployment: Deployment, { context, result, seen, trace, sentMs }: Sent): Promise<Conclusion> {
  const [triggerIds, start] =
    result.kind === 'accepted' ? [result.answer.ids ?? {}, { seen, trace, sentMs }] : [{}, { seen, trace }];
  const idsAreNamed = (deployment.input.deploymentId ?? 'none') !== 'none';
  const known = { ...context, accepted: true, triggerIds, idsAreNamed };
  return awaitVerdict(deployment, known, { ...start, seen: onlyOfOurs(known, start.seen) });
}

/* The baseline: the latest status just before the trigger, once no other deployment is in progress. */

/** Null: the site was never deployed. A conclusion: the request is not sent. */
type Baseline = StatusReading | null | Conclusion;

/** Looks at the site, then reads its status. If that was slow, starts over: the request must follow both closely. */
async function takeBaselines(deployment: Deployment, busyEndsMs: number): Promise<Baseline> {
  const { check, input } = deployment;
  for (let times = 1; ; times += 1) {
    await check?.takeBaseline();
    const readMs = Date.now();
    const taken = await takeBaseline(deployment, busyEndsMs);
    const isTaken = taken === null || !('outcome' in taken);
    if (check === undefined || !isTaken || Date.now() - readMs <= input.intervalMs) return taken;
    // Another deployment may have ended since, and changed the site.
    if (times < MAX_SITE_BASELINES) continue;
    check.forgetBaseline();
    return taken;
  }
}

/** @param busyEndsMs until when to wait for another deployment to end */
async function takeBaseline({ operation, input, reader }: Deployment, busyEndsMs: number): Promise<Baseline> {
  operation.setPhase('baseline');
  const nowMs = Date.now();
  const delayMs = jitterMs(input);
  const intervalMs = Math.max(input.intervalMs, Math.ceil((busyEndsMs - nowMs) / HISTORY_BUDGET.maxBusyReads));
  const tries = Math.max(0, Math.floor((busyEndsMs - nowMs - delayMs) / intervalMs));
  const admissionRead = operation.result.lastStatus === null ? input.admissionRead : 'status';
  /** If an earlier read was answered, a token may be rejected because it is being rotated. */
  let answered = false;
  const neverDeployed = watchForNeverDeployed(admissionRead);
  const late = () => whyTooLate(input.deadline, Date.now());
  const notStarted = (type: 'Refused' | 'Cancelled' | 'Busy' | 'TooLate', reason: string) =>
    conclude('not_started', type, `${targetText(input.target)} was not deployed: ${reason}`);
  const polled = await pollUntil<Baseline>(
    operation,
    {
      what: 'baseline',
      reader,
      schedule: createPollSchedule(nowMs, intervalMs, { earlyMs: FIRST_READS_MS, jitterMs: delayMs }),
      tries,
      until: () => !hasRoom() || (operation.parking.current !== null && late() !== null),
    },
    (answer) => {
      answered ||= answer.ok;
      if (answer.ok && answer.state !== 'in_progress') return answer;
      if (neverDeployed.isProvenBy(answer)) return null;
      if (answered || answer.ok) return undefined;
      const refusal = refusalOf(answer);
      if (refusal === null) return undefined;
      // The run may have read the status before this wait.
      const isRotated = admissionRead === 'status' && isUnauthorized(answer);
      return isRotated ? undefined : notStarted('Refused', refusal);
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
      return hasRoom() ? notStarted('TooLate', late() ?? 'it is too late') : notStarted('Busy', NO_ROOM);
    case 'exhausted': {
      const busy = `another deployment is in progress (last status ${describeLastStatus(operation)})`;
      const remedy = 'try again when it has ended, or map the status in belay.yaml if it is final';
      return notStarted('Busy', `${busy}; ${remedy}`);
    }
  }
}
