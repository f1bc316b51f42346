/** Connects to Temporal to start runs and wait for them, for the command line and for other programs. */
import type { RunInput, RunResult } from '../contract/run.ts';
import {
  getEvent,
  listEvents,
  type EventDetails,
  type EventFilter,
  type ReceivedEvent,
} from '../features/events/client.ts';
import { createAdvise, type AdviceFilter } from '../features/advice/client.ts';
import type { OperationAdvice } from '../features/advice/rules.ts';
import { listRuns, type RunFilter } from './runs/list-runs.ts';
import { createOverview, type LiveOverview, type OverviewOptions } from '../features/overview/client.ts';
import { createApprovals, type Approvals } from '../features/approvals/client.ts';
import { createReceipts, type Receipts } from '../features/receipts/client.ts';
import { createFreezes, leftOfOverride, type Freezes } from '../features/freezes/client.ts';
import { heldLocks, type HeldLock } from './lookups/locks.ts';
import { statusOfRollout } from '../features/rollouts/client-handle.ts';
import { createRollouts, type Rollouts } from '../features/rollouts/client.ts';
import { createRun, type Run } from './runs/run-handle.ts';
import { findServiceNow } from './find-service.ts';
import { checkWorkflowId } from './check-options.ts';
import { openSession, type ConnectOptions } from './session.ts';
import { createSchedules, type Schedules } from '../features/schedules/client.ts';
import { startRun, type StartOptions } from './runs/start-run.ts';

export type { ConnectOptions };

/** Every method throws a BelayError if it fails. */
export interface Belay extends AsyncDisposable {
  /**
   * Starts a run, or attaches to the run with the same key. The input determines what the run does. A field that is
   * undefined counts as absent; if that would decide what the run does, `start` throws `Usage`.
   */
  start(input: RunInput, options?: StartOptions): Promise<Run>;
  /** Returns a handle to a run that was started before. It sends nothing until you call one of its methods. */
  get(workflowId: string, runId?: string): Run;
  /** Lists running and closed runs, the newest first. */
  list(filter?: RunFilter): Promise<RunResult[]>;
  /**
   * Shows the runs and rollouts in flight, and what they wait for. It sends nothing until you call one of its methods.
   */
  overview(options?: OverviewOptions): LiveOverview;
  /**
   * Tells how long backups and deployments took in the last 30 days, and what that suggests. It costs at most one
   * search and 110 reads in Temporal. No verdict depends on it.
   */
  advise(filter?: AdviceFilter): Promise<OperationAdvice[]>;
  /** Lists received events, the newest first. */
  listEvents(filter?: EventFilter): Promise<ReceivedEvent[]>;
  /** Returns one received event, with its redacted body and what it caused. */
  getEvent(workflowId: string): Promise<EventDetails>;
  /** Starts rollouts over a fleet, retries and lists them. */
  readonly rollouts: Rollouts;
  /** Applies the schedules of belay.yaml to Temporal, and manages them there. */
  readonly schedules: Schedules;
  /** Begins, ends and lists freezes, which hold runs back. */
  readonly freezes: Freezes;
  /** Shows what waits for people, and sends their answers. */
  readonly approvals: Approvals;
  /** Makes receipts of what has ended, which can be checked without Temporal. */
  readonly receipts: Receipts;
  /**
   * Returns which of these locks are held now. The lock of a server is `backup-server:<id>`, and that of a site
   * `deploy-site:<id>`.
   */
  heldLocks(lockIds: readonly string[]): Promise<HeldLock[]>;
  /**
   * Returns the identity of the service that a start would be for. Null if nothing names a service and no worker polls.
   */
  findService(): Promise<string | null>;
  /** Closes the connection. What you started continues. */
  close(): Promise<void>;
}

/**
 * Connects to Temporal, where the workers of Belay execute what you start. Without options, it finds Temporal as the
 * command line does: `TEMPORAL_ADDRESS` or a profile, else the running `belay dev` of this folder, else 127.0.0.1:7233.
 * It needs no token of the service. Call `close` at the end, or declare it with `await using`, which needs Node 24, or
 * TypeScript 5.2 to compile it for an older one. An open connection does not keep the process alive.
 *
 * @throws BelayError of type `TemporalUnreachable` if no server answers, or `Usage` for an option or setting that is
 * wrong
 */
export async function connect(options: ConnectOptions = {}): Promise<Belay> {
  const { session, close } = await openSession(options);
  return {
    start: (input, startOptions = {}) => startRun(session, input, startOptions),
    get(workflowId, runId) {
      checkWorkflowId(workflowId, 'belay list');
      return createRun(session, { workflowId, runId: runId ?? null, attached: true });
    },
    list: (filter = {}) => listRuns(session, filter),
    overview: (overviewOptions = {}) => createOverview(session, overviewOptions),
    advise: createAdvise(session),
    listEvents: (filter = {}) => listEvents(session, filter),
    getEvent: (workflowId) => getEvent(session, workflowId),
    rollouts: createRollouts(session, leftOfOverride),
    schedules: createSchedules(session),
    freezes: createFreezes(session),
    approvals: createApprovals(session),
    receipts: createReceipts(session, statusOfRollout),
    heldLocks: (lockIds) => heldLocks(session, lockIds),
    findService: () => findServiceNow(session),
    close,
    [Symbol.asyncDispose]: close,
  };
}
