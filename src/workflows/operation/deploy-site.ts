/** One deployment: takes the baseline, triggers, and polls for our verdict. It is the lock of its target. */
import type { DeploymentResult } from '../../contract/run.ts';
import { targetText } from '../../contract/target.ts';
import { lockIdOf } from '../../contract/ids.ts';
import type { DeploySiteInput } from '../../contract/operation.ts';
import { emptyDeployment } from '../../contract/results.ts';
import { lateness } from '../../rules/deadline.ts';
import type { StatusReading } from '../../rules/verdict.ts';
import { concludeUnsent, type Conclusion } from '../conclusion.ts';
import { readerOf } from '../polling/status-reader.ts';
import { awaitVerdict, verdictContext } from './await-verdict.ts';
import { firstCheck, type OperationHooks } from './hooks.ts';
import { runOperation } from './run-operation.ts';
import { sendUntilAccepted } from './send-until-accepted.ts';
import { takeBaseline, type Baseline } from './take-baseline.ts';
import { reconcile, sendWatched, type Deployment, type Sent } from './trace.ts';

/** A status that always takes longer than the interval, such as that of a site that was never deployed, ends them. */
const MAX_SITE_BASELINES = 3;

export async function deploySite(input: DeploySiteInput, hooks: OperationHooks): Promise<DeploymentResult> {
  // Started by hand, it may lack a target. Its id is then wrong.
  const target = { ...input.target };
  const result = { ...emptyDeployment(target), startedAt: new Date().toISOString() };
  const lockId = lockIdOf(target);
  return runOperation(lockId, input, result, hooks, async (operation) => {
    for (const listen of hooks.endings) listen(operation);
    const check = firstCheck(hooks.checks, operation, input);
    const conclusion = await deploy({ operation, input, reader: readerOf(input, { target }), check });
    if (result.acceptedAt !== null) result.verdictAt = new Date().toISOString();
    return check === undefined ? conclusion : check.judge(conclusion);
  });
}

async function deploy(deployment: Deployment): Promise<Conclusion> {
  const { operation, input, reader } = deployment;
  const { target } = input;
  const name = targetText(target);
  let baseline: StatusReading | null | undefined;
  let sent: Sent | undefined;
  const end = await sendUntilAccepted(operation, input, {
    what: `deploy ${name}`,
    prefix: `${name}: `,
    cancelledBefore: `cancelled before ${name} was deployed`,
    busyWaitMs: input.baselineWaitMs,
    probe: { what: 'baseline', reader },
    late: () => lateness(input.deadline, Date.now()),
    async prepare(counts, busyEndsMs) {
      // After an ambiguous trigger, a deployment in progress may be ours, so the first baseline is kept.
      if (baseline === undefined || counts.ambiguous === 0) {
        const taken = await takeBaselines(deployment, busyEndsMs);
        if ('conclusion' in taken) return taken.conclusion;
        baseline = taken.baseline;
        // What was in progress until now was not ours.
        operation.result.inProgressAt = null;
      }
      const late = lateness(input.deadline, Date.now());
      if (late !== null) return concludeUnsent(counts, 'TooLate', `${name} was not deployed: ${late}`);
      const { instead } = operation.cancellation;
      if (instead !== null) return instead();
      operation.cancellation.begin();
      return null;
    },
    async post(summary, sentMs) {
      sent = await sendWatched(deployment, verdictContext(input, baseline ?? null), summary, sentMs);
      return sent.result;
    },
    async resolveDoubt({ ambiguities, notBeforeMs }) {
      const found = await reconcile(deployment, sent!, ambiguities, notBeforeMs);
      return found === 'send again' ? notBeforeMs : found === 'found' ? 'accepted' : found;
    },
  });
  return end ?? follow(deployment, sent!);
}

/** The request was accepted, or it left a trace. */
function follow(deployment: Deployment, { context, result, seen, trace, sentMs }: Sent): Promise<Conclusion> {
  const reading = trace?.reading ?? null;
  const [triggerIds, start] =
    result.kind === 'accepted' ? [result.answer.ids ?? {}, { seen, reading, sentMs }] : [{}, { seen, reading }];
  return awaitVerdict(deployment, { ...context, accepted: true, triggerIds }, start);
}

/** Looks at the site, then reads its status. If that was slow, starts over: the request must follow both closely. */
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
