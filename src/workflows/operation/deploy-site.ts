/** One deployment: baseline, trigger, and reads until the verdict is ours. The lock of its site. */
import type { DeploymentResult, DeploySiteInput } from '../../contract/run.ts';
import { deploySiteId } from '../../contract/ids/workflow-ids.ts';
import { takeBaseline } from './take-baseline.ts';
import { cancelledEarly, ended, type End } from '../common/conclusion.ts';
import { followed, newDeploymentResult, type Deployment } from './deployment-context.ts';
import { runOperation } from './run-operation.ts';
import { deploymentReader } from '../polling/status-reader.ts';
import { reconcile } from './reconcile-trigger.ts';
import { afterTrigger, countEnd, NO_ENDS, type Ends } from '../rules/trigger-policy.ts';
import type { Question, Sighting } from '../rules/verdict.ts';
import { sendWatched } from './send-and-watch.ts';
import { followDeployment } from './await-verdict.ts';
import { sleepUntil } from '../polling/poll-until.ts';

export async function deploySite(input: DeploySiteInput): Promise<DeploymentResult> {
  const result = { ...newDeploymentResult(input.siteId), startedAt: new Date().toISOString() };
  return runOperation(deploySiteId(input.siteId), input, result, (operation) =>
    deploy({ operation, input, read: deploymentReader(input) }),
  );
}

async function deploy(deployment: Deployment): Promise<End> {
  const { operation, input } = deployment;
  const { trigger } = operation.result;
  const resendMs = input.tries * input.intervalMs;
  const busyEndsMs = Date.now() + (input.ifBusy === 'fail' ? 0 : input.baselineWaitMs);
  let baseline: Sighting | null | undefined;
  let ends: Ends = NO_ENDS;
  for (;;) {
    // Once a trigger was ambiguous, what is in progress may be ours: the first baseline stands.
    if (baseline === undefined || ends.ambiguous === 0) {
      const taken = await takeBaseline(deployment, busyEndsMs);
      if ('end' in taken) return taken.end;
      baseline = taken.baseline;
    }
    const question = questionOf(input, baseline);
    const sent = await sendWatched(deployment, question);
    const { end } = sent;
    if (end.kind === 'accepted') {
      if (ends.ambiguous > 0) trigger.reconciledBy = 'resent';
      const accepted = { ...question, acceptedMs: Date.now(), triggerMarks: end.answer.marks };
      operation.enter('wait');
      return followDeployment(followed(deployment), accepted, { seen: sent.seen, sighting: sent.trace });
    }
    ends = countEnd(ends, end, Date.now());
    const step = afterTrigger(end, ends, { intervalMs: input.intervalMs, resendMs, busyEndsMs }, Date.now());
    if (step.step === 'end') return ended(step.outcome, step.type, `site ${input.siteId}: ${step.message}`);
    if (step.step === 'reconcile') {
      trigger.ambiguous = true;
      const found = await reconcile(deployment, question, { ...sent, ambiguities: ends.ambiguous });
      if (found !== 'send again') return found;
    }
    const againAtMs = step.step === 'send' ? step.atMs : step.notBeforeMs;
    if ((await sleepUntil(operation, againAtMs, 'before the request is sent again')) === 'cancelled') {
      return cancelledEarly(ends, `cancelled before site ${input.siteId} was deployed: ${end.message}`);
    }
  }
}

function questionOf({ settleMs, minEvidence }: DeploySiteInput, baseline: Sighting | null): Question {
  return { baseline, acceptedMs: null, triggerMarks: [], settleMs, minEvidence };
}
