/** The runs of a trace of lock.qnt, and the operations that are their lock. */
import { SIGNALS } from '../../../src/contract/names.ts';
import type { LockReleased } from '../../../src/contract/operation.ts';
import type { RunInput } from '../../../src/contract/run.ts';
import { backupServerId, deploySiteId } from '../../../src/contract/ids.ts';
import { createControls } from '../../../src/sandbox/controls.ts';
import type { SandboxOperation } from '../../../src/sandbox/state.ts';
import type { Sandboxes } from '../../sim/core/sdk.ts';
import { eventsOf } from '../../sim/stack/inspect.ts';
import { startRun } from '../../sim/plays/start-run.ts';
import type { Run } from '../../sim/temporal/types.ts';
import { createStage, inputOf, isQuiet, type Stage } from './stage.ts';

export interface LockStage extends Stage {
  readonly lockId: string;
  /** A server's lock: the release carries the backup. */
  readonly shares: boolean;
  readonly runs: Map<number, Run>;
  /** How many releases of the lock a run has read, as the trace says. */
  readonly read: Map<number, number>;
  readonly truth: Map<number, 'Going' | 'Complete' | 'Failed'>;
  want(number: number): void;
  runOf(number: number): Run;
  /** The number of a run; 0 if it is none of these. */
  numberOf(runId: string | null | undefined): number;
  /** The operation of a run that is or was the lock. */
  operationOf(number: number): Run | undefined;
  releases(number: number): LockReleased[];
  /** @param starts what it may start besides what it needs: its operation, or the notification with which it ends */
  open(
    number: number,
    starts: 'its operation' | 'its end' | 'nothing',
    what: string,
    isDone: () => boolean,
  ): Promise<void>;
  openOperation(number: number, what: string, isDone: () => boolean): Promise<void>;
  isQuiet(run: Run): boolean;
  backupOf(number: number): SandboxOperation | null;
  madeBy(backupId: string | null | undefined): number;
  /** Whether the service answers with the truth about backups, or as if they went on. */
  showBackups(areShown: boolean): void;
  refuseNext(): void;
}

const [SERVER, SITE] = ['s1', 'a1'];
const isEnd = (workflowId: string) => workflowId.startsWith('run-end:');

export function createLockStage(sandboxes: Sandboxes, shares: boolean): LockStage {
  const stage = createStage(sandboxes, { defaults: { backup: { ends: 'never' }, deployment: { durationMs: 2_000 } } });
  const { server, service } = stage.world;
  const lockId = shares ? backupServerId(SERVER) : deploySiteId(SITE);
  const runs = new Map<number, Run>();
  const truth: LockStage['truth'] = new Map();
  const { state } = service;
  const isHeld = (workflowId: string) => workflowId === lockId || isEnd(workflowId);
  const isFree = (run: Run) => run.workflowId !== lockId && ![...runs.values()].includes(run);

  const self: LockStage = {
    ...stage,
    ...{ lockId, shares, runs, read: new Map(), truth },
    want(number) {
      const site = shares ? `a${number}` : SITE;
      const input: RunInput = { siteIds: [site], busyTimeoutMs: 12 * 3_600_000, deploy: { settleMs: 10_000 } };
      const backup = { intervalMs: 15_000, tries: 3 };
      runs.set(number, startRun(server, shares ? { ...input, serverId: SERVER, backup } : input, `k${number}`));
    },
    runOf: (number) => runs.get(number)!,
    numberOf: (runId) => [...runs].find(([, run]) => run.runId === runId)?.[0] ?? 0,
    operationOf: (number) =>
      server.runs.find((run) => run.workflowId === lockId && run.parent?.runId === runs.get(number)?.runId),
    releases(number) {
      const run = runs.get(number);
      if (run === undefined) return [];
      return [...run.history, ...run.buffered].flatMap((it) => {
        if (it.kind !== 'signaled' || it.signal !== SIGNALS.lockReleased) return [];
        const released = inputOf<LockReleased>(it);
        return released.lockId === lockId ? [released] : [];
      });
    },
    open(number, starts, what, isDone) {
      const run = self.runOf(number);
      const mayStart = (workflowId: string) =>
        !isHeld(workflowId) ||
        (starts === 'its operation' && workflowId === lockId) ||
        (starts === 'its end' && isEnd(workflowId));
      return stage.let(
        `run ${number}: ${what}`,
        (it) => isFree(it.run) || (it.run === run && (it.kind !== 'child' || mayStart(it.workflowId))),
        isDone,
      );
    },
    openOperation(number, what, isDone) {
      const operation = self.operationOf(number)!;
      return stage.let(`operation of run ${number}: ${what}`, (it) => isFree(it.run) || it.run === operation, isDone);
    },
    isQuiet: (run) => isQuiet(run, isHeld),
    backupOf(number) {
      const key = `${runs.get(number)?.runId}:`;
      const began = state.journal.find((it) => it.began?.kind === 'backup' && it.idempotencyKey?.startsWith(key));
      return began?.began ? state.backup(began.began.id) : null;
    },
    madeBy: (backupId) => [...runs.keys()].find((it) => self.backupOf(it)?.id === (backupId ?? '')) ?? 0,
    showBackups(areShown) {
      for (const number of runs.keys()) {
        const it = self.backupOf(number);
        const word = { Going: 'never', Complete: 'completed', Failed: 'failed' }[truth.get(number) ?? 'Going'];
        if (it !== null) it.script = { ...it.script, durationMs: 0, ends: areShown ? word : 'never' };
      }
    },
    refuseNext() {
      state.faults.add({ route: shares ? 'create-backup' : 'deploy', answer: { kind: 'status', code: 422 } });
    },
  };
  const sandbox = createControls(state, { begun: () => {}, changed: () => {} }, DELIVERIES);
  // A site that was never deployed is read more often.
  sandbox.script({ site: SITE }, { durationMs: 0 }, { durationMs: 2_000 });
  if (!shares) sandbox.act({ site: SITE });
  return self;
}

/** Of a run: its attempts to start an operation that is the lock. */
export const startsOf = (run: Run, lockId: string) =>
  eventsOf(run, 'childInitiated').filter((it) => it.workflowId === lockId);

const DELIVERIES = { list: [], faults: { add: () => {}, next: () => null }, subscribe: () => {}, send: () => {} };
