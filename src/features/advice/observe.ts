/** What the result of a past operation shows about how long it took. Pure. */
import type { BackupResult, DeploymentResult } from '../../contract/run.ts';
import type { Observation } from './quantile.ts';

type OperationResult = BackupResult | DeploymentResult;

/** From the acceptance to the verdict. Null if the result does not show it. */
export function timeToVerdict(result: OperationResult): Observation | null {
  const { outcome, acceptedAt, trigger } = result;
  const ended = hasEnded(result);
  const verdictAt = verdictAtOf(result);
  // A request in doubt was found to be accepted some time after it was.
  const isKnown = trigger.reconciledBy === null && (ended || outcome === 'timed_out');
  if (!isKnown || acceptedAt === null || verdictAt === null) return null;
  return { ms: Date.parse(verdictAt) - Date.parse(acceptedAt), ended };
}

/** From the acceptance to the end at the service, which the verdict follows. Null if the result does not show it. */
export function timeToEnd(result: OperationResult): number | null {
  const { acceptedAt, inProgressAt } = result;
  const verdict = timeToVerdict(result);
  if (verdict === null || !verdict.ended || acceptedAt === null) return null;
  // Other evidence takes longer than the deployment.
  if ('evidence' in result && result.evidence !== 'transition' && result.evidence !== 'identity') return null;
  // Between the last read in progress and the read that saw its end: in the middle, for want of better.
  const lastMs = inProgressAt === null ? 0 : Date.parse(inProgressAt) - Date.parse(acceptedAt);
  return (lastMs + verdict.ms) / 2;
}

const hasEnded = ({ outcome }: OperationResult): boolean => outcome === 'completed' || outcome === 'failed';

/** The check of a site comes after the verdict. Results from before the field existed lack it. */
function verdictAtOf(result: OperationResult): string | null {
  const known = 'target' in result ? (result.verdictAt as string | null | undefined) : null;
  return known ?? result.endedAt;
}
