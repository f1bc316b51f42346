/** Situations that a history shows. */
import { defaultPayloadConverter as payloads } from '@temporalio/common';
import type { ReadFailure, TriggerFailureType } from '../../../src/contract/activities.ts';
import { SIGNALS } from '../../../src/contract/names.ts';
import type { LockReleased } from '../../../src/contract/operation.ts';
import type { HistoryEvent } from '../core/events.ts';
import { isOperation, type Run } from '../temporal/types.ts';
import { recordedReads, type RecordedRead } from './recorded-reads.ts';
import type { Situations } from './situations.ts';

const inRun =
  (shows: (run: Run) => boolean): Situations[string] =>
  ({ world }) =>
    world.server.runs.some(shows);

const inHistory = (shows: (event: HistoryEvent, run: Run) => boolean) =>
  inRun((run) => run.history.some((event) => shows(event, run)));

const inReads = (shows: (read: RecordedRead) => boolean) => inRun((run) => recordedReads(run).some(shows));

/** @param shows gets the events before as well */
const inOrder = (shows: (event: HistoryEvent, before: readonly HistoryEvent[], run: Run) => boolean) =>
  inRun((run) => run.history.some((event, index) => shows(event, run.history.slice(0, index), run)));

const HEARTBEAT = 4;
const REQUESTS: TriggerFailureType[] = ['Ambiguous', 'Conflict', 'HeldBack', 'NotSent', 'Refused'];
const READS: ReadFailure['kind'][] = ['http', 'network', 'timeout', 'protocol', 'held_back'];
const POSTS = ['triggerDeployment', 'createBackup'];

const failureOf = (event: HistoryEvent) =>
  event.kind === 'activityClosed' && 'failure' in event.outcome ? event.outcome.failure : null;

const isRelease = (it: HistoryEvent) => it.kind === 'signaled' && it.signal === SIGNALS.lockReleased;

/** The children that are open after these events. */
function openChildren(events: readonly HistoryEvent[]): string[] {
  const closed = new Set(events.flatMap((it) => (it.kind === 'childClosed' ? [it.seq] : [])));
  return events.flatMap((it) => (it.kind === 'childStarted' && !closed.has(it.seq) ? [it.type] : []));
}

const cancelledDuring = (shows: (before: readonly HistoryEvent[]) => boolean) =>
  inOrder((event, before, run) => event.kind === 'cancelRequested' && !isOperation(run) && shows(before));

export const SITUATIONS_OF_HISTORIES: Situations = {
  'a lock is handed over': inHistory(isRelease),
  'a lock is handed over with a queue': inHistory(
    (it) =>
      it.kind === 'signaled' &&
      it.signal === SIGNALS.lockReleased &&
      payloads.fromPayload<LockReleased>(it.input[0]!).waiters.length > 0,
  ),
  'a lock is free at a look': inOrder(
    (event, before) =>
      event.kind === 'childStarted' && before.some((it) => it.kind === 'childRefused') && !before.some(isRelease),
  ),
  'a newcomer takes the lock before its heir': inOrder(
    (event, before) => event.kind === 'childRefused' && before.some(isRelease),
  ),
  'a message about a lock finds no one': inHistory((it) => it.kind === 'signalSent' && it.problem === 'absent'),
  'a lock is held by another run': inHistory((it) => it.kind === 'childRefused'),
  'a hint leads to a read': inReads(({ isHinted }) => isHinted),
  'a deployment of another user is waited for': inRun(
    (run) => recordedReads(run).filter(({ stage, answer }) => stage === 'baseline' && answer?.ok).length > 1,
  ),
  'a trace of a request in doubt is looked for': inReads(({ stage }) => stage === 'trace'),
  'a read is made in place of one that failed': inReads(({ isSecond }) => isSecond),
  ...Object.fromEntries(
    READS.map((kind) => [
      `a read ends as ${kind}`,
      inReads(({ answer }) => answer !== null && !answer.ok && answer.kind === kind),
    ]),
  ),
  ...Object.fromEntries(
    REQUESTS.map((type) => [
      `a request ends as ${type}`,
      inHistory(
        (it) =>
          it.kind === 'activityClosed' &&
          POSTS.includes(it.type) &&
          failureOf(it)?.applicationFailureInfo?.type === type,
      ),
    ]),
  ),
  'a worker ends with a request': inHistory(
    (it) => Number(failureOf(it)?.timeoutFailureInfo?.timeoutType) === HEARTBEAT,
  ),
  'a task times out': inHistory((it) => it.kind === 'taskTimedOut' && it.startedId !== 0),
  'a worker leaves a task in its own queue': inHistory((it) => it.kind === 'taskTimedOut' && it.startedId === 0),
  'a close is refused because of new events': inHistory((it) => it.kind === 'taskFailed'),
  'an operation is cancelled': inHistory((it, run) => it.kind === 'cancelRequested' && isOperation(run)),
  'an operation is terminated': inHistory((it, run) => it.kind === 'terminated' && isOperation(run)),
  'a run is terminated': inHistory((it, run) => it.kind === 'terminated' && !isOperation(run)),
  'a run is cancelled during its backup': cancelledDuring((before) => openChildren(before).includes('backupServer')),
  'a run is cancelled during a deployment': cancelledDuring((before) => openChildren(before).includes('deploySite')),
  'a run is cancelled while it waits for a lock': cancelledDuring(
    (before) => openChildren(before).length === 0 && before.some((it) => it.kind === 'childRefused'),
  ),
};
