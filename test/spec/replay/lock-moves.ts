/** What each action of docs/spec/lock.qnt is in the simulator. docs/spec/README.md has a table of it. */
import { SIGNALS } from '../../../src/contract/names.ts';
import { TIMING } from '../../../src/contract/timing.ts';
import { eventsOf } from '../../sim/stack/inspect.ts';
import type { Passing } from '../../sim/temporal/gate.ts';
import type { Run } from '../../sim/temporal/types.ts';
import { NONE, type LockState } from './lock-model.ts';
import { startsOf, type LockStage } from './lock-stage.ts';

interface Move {
  stage: LockStage;
  /** The run that acts, or whose operation does. */
  number: number;
  before: LockState;
  after: LockState;
}

export const LOCK_MOVES: Readonly<Record<string, (move: Move) => Promise<void>>> = {
  async want({ stage, number }) {
    stage.want(number);
    await startAgain(stage, number);
  },

  async take({ stage, number }) {
    const isMeant = ({ kind, run }: Passing) => kind === 'child' && run === stage.runOf(number);
    await stage.let(`run ${number}: take the lock`, isMeant, () => stage.operationOf(number) !== undefined);
  },

  async ask({ stage, number, before }) {
    const requests = () => requestsIn(stage.operationOf(before.holder)!);
    const earlier = requests();
    await stage.open(number, 'its operation', 'ask the holder', () => requests() > earlier);
  },

  async look({ stage, number, after }) {
    if (after.phase.get(number) === 'Starting') return startAgain(stage, number);
    const pauses = () =>
      eventsOf(stage.runOf(number), 'timerStarted').filter(({ ms }) => ms === TIMING.lock.handOverMs);
    const earlier = pauses().length;
    await stage.open(number, 'nothing', 'find the lock free', () => pauses().length > earlier);
  },

  async wake({ stage, number, after }) {
    const { length } = stage.releases(number);
    if (after.phase.get(number) === 'Starting') await startAgain(stage, number);
    else await settle(stage, number, 'share a backup');
    stage.read.set(number, length);
  },

  async giveUp({ stage, number }) {
    stage.world.server.requestCancel(stage.runOf(number));
    await stage.open(number, 'its operation', 'give up', () => hasAnnounced(stage.runOf(number)));
  },

  async forwardLate({ stage, number }) {
    const { length } = stage.releases(number);
    const run = stage.runOf(number);
    const sent = () => eventsOf(run, 'signalSent').filter(({ problem }) => problem === null).length;
    const earlier = sent();
    await stage.open(number, 'nothing', 'forward a release', () => sent() > earlier || stage.isQuiet(run));
    stage.read.set(number, length);
  },

  async create({ stage, number }) {
    const operation = stage.operationOf(number)!;
    const isMade = () => stage.backupOf(number) !== null && stage.isQuiet(operation);
    await stage.openOperation(number, 'make a backup', isMade);
    stage.truth.set(number, 'Going');
  },

  finish({ stage, number, after }) {
    stage.truth.set(number, after.backup.get(number) as 'Complete' | 'Failed');
    return Promise.resolve();
  },

  /** Seen with the next step of the operation: its first signal, or its end. */
  conclude: () => Promise.resolve(),

  async signalFirst({ stage, number, before }) {
    const alive = [...before.queue].filter((it) => before.phase.get(it) !== 'Ended');
    // Those that have closed are tried and skipped on the way to the next step.
    if (alive.length === 0 && before.signalled === NONE) return;
    const operation = stage.operationOf(number)!;
    const isMeant = (runId: string) => before.signalled === NONE || stage.numberOf(runId) === before.signalled;
    const sent = () =>
      sentBy(operation).filter(({ runId, isAbsent }) => isMeant(runId) && (!isAbsent || before.signalled !== NONE));
    const earlier = sent().length;
    await concluding(stage, number, before, 'signal a waiter', () => sent().length > earlier);
  },

  async close({ stage, number, before }) {
    await concluding(stage, number, before, 'close', () => stage.operationOf(number)!.closedMs !== null);
    await leave(stage, number, before);
  },

  async terminate({ stage, number, before }) {
    stage.world.server.terminate(stage.operationOf(number)!);
    await leave(stage, number, before);
  },

  async cancel({ stage, number }) {
    stage.world.server.requestCancel(stage.runOf(number));
    await stage.open(number, 'nothing', 'leave its backup', () => hasAnnounced(stage.runOf(number)));
  },

  async readShared({ stage, number }) {
    stage.showBackups(true);
    await stage.open(number, 'nothing', 'read the backup', () => isPastSharing(stage, number));
    stage.showBackups(false);
  },

  async timeOut({ stage, number }) {
    await stage.open(number, 'nothing', 'give the backup up', () => isPastSharing(stage, number));
  },

  async end({ stage, number }) {
    await stage.open(number, 'its end', 'close', () => stage.runOf(number).closedMs !== null);
  },
};

const requestsIn = (operation: Run) =>
  [...operation.history, ...operation.buffered].filter(
    (it) => it.kind === 'signaled' && it.signal === SIGNALS.lockRequested,
  ).length;

export const hasAnnounced = (run: Run) =>
  eventsOf(run, 'childInitiated').some(({ type }) => type === 'sendNotifications');
/** Whether it has gone on to deploy, with the backup of its server. */
export const deploysNow = (run: Run, lockId: string) =>
  eventsOf(run, 'childInitiated').some(({ type, workflowId }) => type === 'deploySite' && workflowId !== lockId);

async function startAgain(stage: LockStage, number: number): Promise<void> {
  const run = stage.runOf(number);
  const earlier = startsOf(run, stage.lockId).length;
  await stage.open(number, 'nothing', 'start its operation', () => startsOf(run, stage.lockId).length > earlier);
}

const settle = (stage: LockStage, number: number, what: string) =>
  stage.open(number, 'nothing', what, () => stage.isQuiet(stage.runOf(number)));

const isPastSharing = (stage: LockStage, number: number) =>
  stage.isQuiet(stage.runOf(number)) &&
  (hasAnnounced(stage.runOf(number)) || deploysNow(stage.runOf(number), stage.lockId));

/** The releases that an operation has sent, and whether their receiver was there. */
function sentBy(operation: Run): { runId: string; isAbsent: boolean }[] {
  const ended = new Map(eventsOf(operation, 'signalSent').map(({ seq, problem }) => [seq, problem]));
  return eventsOf(operation, 'signalInitiated')
    .filter(({ seq }) => ended.has(seq))
    .map(({ seq, target: { runId } }) => ({ runId, isAbsent: ended.get(seq) !== null }));
}

/** The operation ends in the way that the model says, if it has not ended its work before. */
async function concluding(
  stage: LockStage,
  number: number,
  before: LockState,
  what: string,
  isDone: () => boolean,
): Promise<void> {
  const operation = stage.operationOf(number)!;
  const isFirst = eventsOf(operation, 'signalInitiated').length === 0;
  // A site's operation deploys, or is refused.
  if (isFirst && (stage.shares ? before.conclusion === 'NotMade' : number % 2 === 0)) stage.refuseNext();
  stage.showBackups(before.conclusion !== 'Going');
  await stage.openOperation(number, what, isDone);
  stage.showBackups(false);
}

/** The run learns that its operation has closed, and goes on unless it has mail to read first. */
async function leave(stage: LockStage, number: number, before: LockState): Promise<void> {
  const run = stage.runOf(number);
  if (run.closedMs !== null) return;
  const isTold = () => eventsOf(run, 'childClosed').some(({ child }) => child.workflowId === stage.lockId);
  await stage.let(`run ${number}: learn of the end`, () => false, isTold);
  if (before.mail.get(number)?.isHere !== true) await settle(stage, number, 'go on');
}
