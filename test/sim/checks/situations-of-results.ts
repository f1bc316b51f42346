/** Situations that the result of a run shows. */
import type { ErrorType, Evidence } from '../../../src/contract/names.ts';
import type { DeploymentResult, RunResult } from '../../../src/contract/run.ts';
import { oneForEach, type Situations } from './situation.ts';

const ERRORS: ErrorType[] = [
  ...(['BackupFailed', 'BackupTimedOut', 'Busy', 'DeploymentFailed', 'DeploymentTimedOut'] as const),
  ...(['OutcomeUnknown', 'Refused', 'Frozen', 'CheckFailed'] as const),
];
/** No answer to a POST of the scenarios names its deployment, so only the commit of a site is `identity`. */
const EVIDENCE: Evidence[] = ['identity', 'transition', 'changed', 'settled'];
const OUTCOMES = ['completed', 'failed', 'timed_out', 'unknown', 'cancelled', 'not_started'] as const;

const inResult = (shows: (result: RunResult) => boolean): Situations[string] => {
  return ({ played }) => played.runs.some(({ result }) => result !== null && shows(result));
};

const inHeld = (shows: (held: RunResult['held'][number]) => boolean) => inResult(({ held }) => held.some(shows));

const inDeployment = (shows: (deployment: DeploymentResult) => boolean) =>
  inResult(({ deployments }) => deployments.some(shows));

export const SITUATIONS_OF_RESULTS: Situations = {
  ...oneForEach(
    OUTCOMES,
    (outcome) => `a run ends ${outcome}`,
    (outcome) => inResult((result) => result.outcome === outcome),
  ),
  ...oneForEach(
    ERRORS,
    (type) => `a run ends with ${type}`,
    (type) => inResult(({ error }) => error?.type === type),
  ),
  ...oneForEach(
    EVIDENCE,
    (evidence) => `the evidence of a deployment is ${evidence}`,
    (evidence) => inDeployment((it) => it.evidence === evidence),
  ),
  'a deployment comes too late': inDeployment(({ error }) => error?.type === 'TooLate'),
  'a check leaves a deployment unknown': inDeployment(({ check }) => check?.outcome === 'unknown'),
  'a check is cut short': inDeployment(({ outcome, check }) => outcome === 'cancelled' && (check?.reads ?? 0) > 0),
  'a run is let off its checks': inHeld(({ for: kind }) => kind === 'check'),
  'a run is let off a freeze': inHeld(({ for: kind, end }) => kind === 'freeze' && end === 'overridden'),
  'a run may not be let off a freeze': inResult(({ error }) => /no run may be let off/.test(error?.message ?? '')),
  'a run waits until a freeze is over': inHeld(({ end }) => end === 'passed'),
  'a run gives up waiting for a freeze': inHeld(({ end }) => end === 'gave_up'),
  'a freeze begins while a run is under way': inResult(
    ({ error, backup }) => error?.type === 'Frozen' && backup?.outcome === 'completed',
  ),
  'a run waits for a freeze after its backup': inResult(
    ({ held, backup }) =>
      backup !== null && held.some(({ end, from }) => end === 'passed' && from > (backup.endedAt ?? '~')),
  ),
  'a backup is shared': inResult(({ backup }) => backup?.source === 'shared'),
  'a shared backup does not complete': inResult(
    ({ backup }) => backup?.source === 'shared' && backup.outcome !== 'completed',
  ),
  'a backup is reused': inResult(({ backup }) => backup?.source === 'reused'),
  'a backup is given': inResult(({ backup }) => backup?.source === 'given'),
  'a backup in doubt is made again': inResult(({ backup }) => backup?.trigger.reconciledBy === 'resent'),
  'a request in doubt is sent again': inDeployment(({ trigger }) => trigger.reconciledBy === 'resent'),
  'a request in doubt left a trace': inDeployment(
    ({ trigger: { reconciledBy } }) => reconciledBy !== null && reconciledBy !== 'resent',
  ),
  'a request in doubt leaves its deployment unknown': inDeployment(
    ({ outcome, trigger }) => outcome === 'unknown' && trigger.ambiguous,
  ),
  'a request without effect is sent again': inDeployment(({ trigger }) => trigger.attempts > 1 && !trigger.ambiguous),
  'a gap in the reads keeps a request from being sent again': inDeployment(
    ({ error }) => error?.message.includes('not read for a while') === true,
  ),
  'one deployment of a run completes and another one does not': inResult(
    ({ deployments }) =>
      deployments.some(({ outcome }) => outcome === 'completed') &&
      deployments.some(({ outcome }) => outcome !== null && outcome !== 'completed'),
  ),
};
