/** Shows advice and usual durations beside a status. If they cannot be read, the status is shown without them. */
import { partInFlight } from '../../contract/explain-wait.ts';
import type { BackupResult, DeploymentResult, RunResult } from '../../contract/run.ts';
import { TIMING } from '../../contract/timing.ts';
import type { AdviceFilter, Belay, OperationAdvice, Run, RunStatus } from '../../starter.ts';
import { subjectOf } from './rules.ts';
import { nameOfAdvice, type Eta } from './actions.ts';

/** The status reads this many past operations for each operation that it shows. */
const FEW = 20;

type Part = BackupResult | DeploymentResult;

const partsOf = ({ backup, deployments }: RunResult): Part[] => [...(backup === null ? [] : [backup]), ...deployments];

/** @returns an empty list if Temporal does not answer soon */
async function adviceBeside(belay: Belay, filter: AdviceFilter): Promise<OperationAdvice[]> {
  if (filter.of?.length === 0) return [];
  const late = new Promise<OperationAdvice[]>((resolve) => setTimeout(resolve, TIMING.advice.besideMs, []).unref());
  return Promise.race([belay.advise(filter).catch(() => []), late]);
}

export const adviceOnRun = (belay: Belay, result: RunResult): Promise<OperationAdvice[]> =>
  adviceBeside(belay, { of: partsOf(result).map(subjectOf) });

export function adviceOnStatus(belay: Belay, status: RunStatus): Promise<OperationAdvice[]> {
  const parts = partsOf(status.result).filter(({ outcome }) => outcome === 'timed_out');
  const awaited = awaitedPart(status);
  const of = [...(awaited === null ? [] : [awaited]), ...parts].map(subjectOf);
  return adviceBeside(belay, { of, limit: FEW * of.length });
}

/** The operation whose end the run waits for now. */
function awaitedPart({ result, waiting }: RunStatus): Part | null {
  const awaitsEnd = (waiting?.kind === 'backup' || waiting?.kind === 'deployment') && waiting.parked === undefined;
  return awaitsEnd ? partInFlight(result) : null;
}

export function etaOf(status: RunStatus, found: readonly OperationAdvice[]): Eta | null {
  const part = awaitedPart(status);
  const past = part === null ? undefined : found.find((it) => nameOfAdvice(it) === nameOfAdvice(part));
  if (part === null || past === undefined || past.usuallyMs === null) return null;
  return { usuallyMs: past.usuallyMs, p95Ms: past.p95Ms, n: past.n, acceptedAt: part.acceptedAt };
}

/**
 * Asks in the background for a display that follows a run: once for the past of all operations, and once for the
 * acceptance of each.
 */
export function followEta(belay: Belay, run: Run): (status: RunStatus) => Eta | null {
  let past: OperationAdvice[] | null = null;
  const acceptedAt = new Map<string, string | null>();

  function askPast({ result }: RunStatus): void {
    past = [];
    const parts = partsOf(result).filter(({ outcome }) => outcome === null);
    void belay.advise({ of: parts.map(subjectOf) }).then(
      (found) => (past = found),
      () => undefined,
    );
  }

  /** Temporal's records show the acceptance only when the operation has ended, so this asks the run. */
  function askAccepted(name: string): void {
    acceptedAt.set(name, null);
    void run.status().then(
      (status) => {
        const part = awaitedPart(status);
        if (part !== null) acceptedAt.set(nameOfAdvice(part), part.acceptedAt);
      },
      () => undefined,
    );
  }

  return (status) => {
    const part = awaitedPart(status);
    if (part === null) return null;
    if (past === null) askPast(status);
    const eta = etaOf(status, past ?? []);
    if (eta === null || eta.acceptedAt !== null) return eta;
    const name = nameOfAdvice(part);
    if (!acceptedAt.has(name)) askAccepted(name);
    return { ...eta, acceptedAt: acceptedAt.get(name) ?? null };
  };
}
