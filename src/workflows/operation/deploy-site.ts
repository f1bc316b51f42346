/** One deployment: takes the baseline, triggers, and polls for our verdict. It is the lock of its target. */
import type { DeploymentResult } from '../../contract/run.ts';
import { targetText } from '../../contract/wording/target-text.ts';
import { lockIdOf } from '../../contract/ids/workflow-ids.ts';
import { awaitService, type TriggerEnd } from './await-service.ts';
import { createSiteCheck } from './site-check.ts';
import { takeBaseline, type Baseline } from './take-baseline.ts';
import { concludeCancelledBeforeStart, conclude, type Conclusion } from '../common/conclusion.ts';
import { followed, type Deployment } from './deployment-context.ts';
import { emptyDeployment } from '../../contract/results/empty-results.ts';
import { onNewerRun } from '../common/superseding.ts';
import { runOperation } from './run-operation.ts';
import { deploymentReader } from '../polling/status-reader.ts';
import { reconcile } from './reconcile-trigger.ts';
import { afterTrigger, countTrigger, NO_TRIGGERS, type TriggerCounts } from '../../rules/trigger-policy.ts';
import type { VerdictContext, StatusReading } from '../../rules/verdict.ts';
import { lateness } from '../../rules/deadline.ts';
import { sendWatched } from './send-and-watch.ts';
import { awaitVerdict } from './await-verdict.ts';
import { sleepUntil } from '../polling/poll-until.ts';
import type { DeploySiteInput } from '../../contract/operation.ts';

/** A status that always takes longer than the interval, such as that of a site that was never deployed, ends them. */
const MAX_SITE_BASELINES = 3;

export async function deploySite(input: DeploySiteInput): Promise<DeploymentResult> {
  // Started by hand, it may lack a target. Its id is then wrong.
  const target = { ...input.target };
  const result = { ...emptyDeployment(target), startedAt: new Date().toISOString() };
  const lockId = lockIdOf(target);
  return runOperation(lockId, input, result, async (operation) => {
    onNewerRun((newer) => Promise.resolve(operation.superseding.supersede(newer)));
    const check = input.check === undefined ? undefined : createSiteCheck(operation, input.service, input.check);
    const conclusion = await deploy({ operation, input, reader: deploymentReader(input), check });
    if (result.acceptedAt !== null) result.verdictAt = new Date().toISOString();
    return check === undefined ? conclusion : check.judge(conclusion);
  });
}

async function deploy(deployment: Deployment): Promise<Conclusion> {
  const { operation, input } = deployment;
  const {
    parking,
    result: { trigger },
  } = operation;
  const resendMs = input.tries * input.intervalMs;
  const busyUntilMs = Date.now() + (input.ifBusy === 'fail' ? 0 : input.baselineWaitMs);
  let baseline: StatusReading | null | undefined;
  let counts: TriggerCounts = NO_TRIGGERS;
  for (;;) {
    // After an ambiguous trigger, a deployment in progress may be ours, so the first baseline is kept.
    if (baseline === undefined || counts.ambiguous === 0) {
      const parkedMs = parking.spentMs;
      const taken = await takeBaselines(deployment, busyUntilMs + parkedMs);
      if ('conclusion' in taken) return taken.conclusion;
      baseline = taken.baseline;
      // Requests from before an outage say nothing about the service after it.
      if (parking.spentMs > parkedMs) counts = NO_TRIGGERS;
      // What was in progress until now was not ours.
      operation.result.inProgressAt = null;
    }
    const late = lateness(input.deadline, Date.now());
    if (late !== null) return concludeLate(counts, `${targetText(input.target)} was not deployed: ${late}`);
    // The run's own conclusion replaces this one.
    if (operation.superseding.by !== null) return conclude('not_started', 'Superseded', 'replaced by a newer run');
    operation.superseding.begin();
    const context = verdictContextOf(input, baseline);
    const sent = await sendWatched(deployment, context);
    const { result } = sent;
    if (result.kind === 'accepted') {
      if (counts.ambiguous > 0) trigger.reconciledBy = 'resent';
      operation.result.acceptedAt = new Date().toISOString();
      const accepted = { ...context, accepted: true, triggerIds: result.answer.ids ?? {} };
      operation.setPhase('wait', 'accepted');
      return awaitVerdict(followed(deployment), accepted, {
        seen: sent.seen,
        reading: sent.trace?.reading ?? null,
        sentMs: sent.sentMs,
      });
    }
    operation.recordTrigger(result.kind);
    counts = countTrigger(counts, result, Date.now());
    const busyEndsMs = busyUntilMs + parking.spentMs;
    const step = afterTrigger(result, counts, { intervalMs: input.intervalMs, resendMs, busyEndsMs }, Date.now());
    if (step.kind === 'end') {
      const end = await awaitServiceFor(deployment, { step, result, counts });
      if (end !== null) return end;
      counts = NO_TRIGGERS;
      continue;
    }
    if (step.kind === 'reconcile') {
      trigger.ambiguous = true;
      const found = await reconcile(deployment, context, { ...sent, ambiguities: counts.ambiguous }, step.notBeforeMs);
      if (found !== 'send again') return found;
    }
    const againAtMs = step.kind === 'send' ? step.atMs : step.notBeforeMs;
    if ((await sleepUntil(operation, againAtMs, 'before the request is sent again')) === 'cancelled') {
      return concludeCancelledBeforeStart(
        counts,
        `cancelled before ${targetText(input.target)} was deployed: ${result.message}`,
      );
    }
  }
}

/** Of the site and of its status. The request follows the second one at once, and a site may take long to answer. */
async function takeBaselines(deployment: Deployment, busyEndsMs: number): Promise<Baseline> {
  const { check, input } = deployment;
  for (let times = 1; ; times += 1) {
    await check?.takeBaseline();
    const readMs = Date.now();
    const taken = await takeBaseline(deployment, busyEndsMs);
    if (check === undefined || 'conclusion' in taken || Date.now() - readMs <= input.intervalMs) return taken;
    // Another deployment may have ended since, and changed the site.
    if (times < MAX_SITE_BASELINES) continue;
    check.forgetBaseline();
    return taken;
  }
}

function awaitServiceFor({ operation, input, reader }: Deployment, end: Omit<TriggerEnd, 'prefix'>) {
  const late = () => lateness(input.deadline, Date.now());
  const { intervalMs, tries } = input;
  const wait = { what: 'baseline', reader, tries, intervalMs, late } as const;
  return awaitService(operation, wait, { ...end, prefix: `${targetText(input.target)}: ` });
}

/** After an ambiguous request, nothing may claim that no deployment was started. */
function concludeLate({ ambiguous }: TriggerCounts, message: string): Conclusion {
  if (ambiguous === 0) return conclude('not_started', 'TooLate', message);
  return conclude('unknown', 'OutcomeUnknown', `an earlier request may have had an effect; ${message}`);
}

function verdictContextOf(
  { settleMs, minEvidence, target, serverId }: DeploySiteInput,
  baseline: StatusReading | null,
): VerdictContext {
  const otherIds = serverId === undefined ? [target.id] : [target.id, serverId];
  return { baseline, accepted: false, triggerIds: {}, otherIds, settleMs, minEvidence };
}
