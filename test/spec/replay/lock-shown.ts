/** What the simulator shows of the variables of docs/spec/lock.qnt: histories, messages, and the state of the service. */
import { SIGNALS } from '../../../src/contract/names.ts';
import type { LockReleased, LockRequested, Waiter } from '../../../src/contract/operation.ts';
import { eventsOf } from '../../sim/stack/inspect.ts';
import type { Run } from '../../sim/temporal/types.ts';
import { deploysNow, hasAnnounced } from './lock-moves.ts';
import { NONE, type LockState } from './lock-model.ts';
import { startsOf, type LockStage } from './lock-stage.ts';
import { inputOf } from './stage.ts';

/** @returns what differs, as `name: model / code` */
export function differences(stage: LockStage, model: LockState): string[] {
  const found: string[] = [];
  const compare = (name: string, expected: unknown, shown: unknown) => {
    const [a, b] = [JSON.stringify(expected), JSON.stringify(shown)];
    if (a !== b) found.push(`${name}: ${a} / ${b}`);
  };
  const alive = (numbers: Iterable<number>) =>
    [...new Set(numbers)].filter((it) => model.phase.get(it) !== 'Ended').sort();
  const numbers = (waiters: Iterable<Waiter>) => alive([...waiters].map(({ runId }) => stage.numberOf(runId)));
  const holder = stage.world.server.find(stage.lockId);
  const isHeld = holder?.closedMs === null && holder.parent !== null;
  compare('holder', model.holder, isHeld ? stage.numberOf(holder.parent!.runId) : NONE);
  compare('queue', alive(model.queue), isHeld ? numbers(queueOf(holder)) : []);
  compare('signalled', model.signalled, isHeld && model.isReleasing ? signalledBy(stage, holder) : NONE);
  for (const [number, phase] of model.phase) {
    const of = (name: string) => `${name} of run ${number}`;
    const run = stage.runs.get(number);
    const shown = phaseOf(stage, number, run);
    // A failed backup ends the run as soon as it learns of it, so no read follows.
    const isAhead = phase === 'Sharing' && model.backup.get(model.uses.get(number)!) === 'Failed' && shown === 'Past';
    if (!isAhead) compare(of('phase'), phase, shown);
    const mail = stage.releases(number).slice(stage.read.get(number) ?? 0);
    const expected = model.mail.get(number)!;
    if (phase !== 'Ended') {
      compare(of('mail'), alive(expected.waiters), numbers(mail.flatMap(({ waiters }) => waiters)));
      compare(of('isHere'), expected.isHere, mail.length > 0);
      compare(of('backup in the mail'), expected.backup, stage.madeBy(mail.at(-1)?.backup?.result.backupId));
    }
    if (phase === 'Waiting') compare(of('asked'), model.asked.get(number), askedBy(stage, run!));
    if (phase === 'Starting') {
      const { waiters } = inputOf<{ waiters: Waiter[] }>(startsOf(run!, stage.lockId).at(-1)!);
      compare(of('inherited'), alive(model.inherited.get(number)!), numbers(waiters));
    }
    if (run !== undefined && run.task === null && stage.shares)
      compare(of('deploys'), model.deploys.has(number), deploysNow(run, stage.lockId));
    compare(
      of('backup'),
      model.backup.get(number),
      stage.backupOf(number) === null ? 'NotMade' : stage.truth.get(number),
    );
    const operation = stage.operationOf(number);
    compare(of('closed'), model.closed.has(number), operation !== undefined && operation.closedMs !== null);
  }
  return found;
}

function phaseOf(stage: LockStage, number: number, run: Run | undefined): string {
  if (run === undefined) return 'Idle';
  if (run.closedMs !== null) return 'Ended';
  const starts = startsOf(run, stage.lockId);
  const operation = stage.operationOf(number);
  if (hasAnnounced(run) || deploysNow(run, stage.lockId)) return 'Past';
  if (operation !== undefined) return operation.closedMs === null ? 'Holding' : 'Past';
  if (eventsOf(run, 'activityScheduled').some(({ type }) => type === 'writeBackupRecord')) return 'Sharing';
  return starts.length > eventsOf(run, 'childRefused').length ? 'Starting' : 'Waiting';
}

/** What the messages to an operation and from it leave in its queue. */
function queueOf(operation: Run): Iterable<Waiter> {
  const queue = new Map<string, Waiter>();
  const join = (waiters: Waiter[]) => waiters.forEach((it) => queue.set(it.runId, it));
  for (const event of [...operation.history, ...operation.buffered]) {
    if (event.kind === 'started') join(inputOf<{ waiters: Waiter[] }>(event).waiters);
    if (event.kind === 'signaled' && event.signal === SIGNALS.lockRequested)
      join(inputOf<LockRequested>(event).waiters);
    if (event.kind !== 'signalInitiated') continue;
    queue.delete(event.target.runId);
    const isLost = operation.history.some(
      (it) => it.kind === 'signalSent' && it.seq === event.seq && it.problem !== null,
    );
    if (!isLost) for (const { runId } of inputOf<LockReleased>(event).waiters) queue.delete(runId);
  }
  return queue.values();
}

/** The waiter to which the operation has passed its queue on. */
function signalledBy(stage: LockStage, operation: Run): number {
  const last = eventsOf(operation, 'signalInitiated').at(-1);
  const sent = eventsOf(operation, 'signalSent').find(({ seq }) => seq === last?.seq);
  return last === undefined || sent?.problem !== null ? NONE : stage.numberOf(last.target.runId);
}

/** The holder that knows a waiter. */
function askedBy(stage: LockStage, run: Run): number {
  const asked = eventsOf(run, 'signalInitiated').findLast(({ signal }) => signal === SIGNALS.lockRequested);
  const operation = stage.world.server.runs.find(({ runId }) => runId === asked?.target.runId);
  return stage.numberOf(operation?.parent?.runId);
}
