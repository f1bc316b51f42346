/** Situations that a history shows. */
import { defaultPayloadConverter as payloads } from '@temporalio/common';
import type { ReadFailure, TriggerFailureType } from '../../../src/contract/activities.ts';
import { ADMISSION_ACTIVITY, FREEZE_TYPE, POOLED_WAIT_ACTIVITY, SIGNALS } from '../../../src/contract/names.ts';
import type { SiteRead } from '../../../src/features/site-checks/shapes.ts';
import type { LockReleased } from '../../../src/contract/operation.ts';
import { isPost } from '../../support/post-activities.ts';
import type { HistoryEvent } from '../core/events.ts';
import { isOperation, type Run } from '../temporal/types.ts';
import { resumedMs, wasParked } from './phases.ts';
import { recordedReads, type RecordedRead } from './recorded-reads.ts';
import { recordedSiteReads, type RecordedSiteRead } from './recorded-site-reads.ts';
import { oneForEach, type Situations } from './situation.ts';

type EventOf<K extends HistoryEvent['kind']> = Extract<HistoryEvent, { kind: K }>;

const inRun =
  (shows: (run: Run) => boolean): Situations[string] =>
  ({ world }) =>
    world.server.runs.some(shows);

const inHistory = (shows: (event: HistoryEvent, run: Run) => boolean) =>
  inRun((run) => run.history.some((event) => shows(event, run)));

const inReads = (shows: (read: RecordedRead) => boolean) => inRun((run) => recordedReads(run).some(shows));

/** @param shows gets the events before one of this kind */
const before = (kind: HistoryEvent['kind'], shows: (earlier: readonly HistoryEvent[], run: Run) => boolean) =>
  inRun((run) => run.history.some((event, index) => event.kind === kind && shows(run.history.slice(0, index), run)));

const inSiteReads = (shows: (read: RecordedSiteRead) => boolean) => inRun((run) => recordedSiteReads(run).some(shows));

const HEARTBEAT = 4;
const SITE_READS: SiteRead['kind'][] = ['holds', 'fails', 'nothing'];
const REQUESTS: TriggerFailureType[] = ['Ambiguous', 'Conflict', 'Frozen', 'HeldBack', 'NotSent', 'Refused'];
const READS: ReadFailure['kind'][] = ['http', 'network', 'timeout', 'protocol', 'held_back'];

const failureOf = (event: HistoryEvent) =>
  event.kind === 'activityClosed' && 'failure' in event.outcome ? event.outcome.failure : null;

const isPooled = (it: HistoryEvent): boolean => it.kind === 'activityScheduled' && it.type === POOLED_WAIT_ACTIVITY;

const isPoolEnd = (it: HistoryEvent): boolean => it.kind === 'activityClosed' && it.type === POOLED_WAIT_ACTIVITY;

const isRelease = (it: HistoryEvent): it is EventOf<'signaled'> =>
  it.kind === 'signaled' && it.signal === SIGNALS.lockReleased;

/** The children that are open after these events. */
function openChildren(events: readonly HistoryEvent[]): string[] {
  const closed = new Set(events.flatMap((it) => (it.kind === 'childClosed' ? [it.seq] : [])));
  return events.flatMap((it) => (it.kind === 'childStarted' && !closed.has(it.seq) ? [it.type] : []));
}

const cancelledDuring = (shows: (earlier: readonly HistoryEvent[]) => boolean) =>
  before('cancelRequested', (earlier, run) => !isOperation(run) && shows(earlier));

export const SITUATIONS_OF_HISTORIES: Situations = {
  'a run waits for admission': inHistory((it) => it.kind === 'activityScheduled' && it.type === ADMISSION_ACTIVITY),
  'a worker makes the reads of an operation': inHistory(isPooled),
  'another worker goes on with the reads of an operation': inHistory(
    (it, run) => it.kind === 'activityStarted' && it.attempt > 1 && isPooled(run.history[it.scheduledId - 1]!),
  ),
  'a hint comes while a worker makes the reads': before(
    'signaled',
    (earlier) => earlier.filter(isPooled).length > earlier.filter(isPoolEnd).length,
  ),
  'a lock is handed over': inHistory(isRelease),
  'a lock is handed over with a queue': inHistory(
    (it) => isRelease(it) && payloads.fromPayload<LockReleased>(it.input[0]!).waiters.length > 0,
  ),
  'a lock is free at a look': before(
    'childStarted',
    (earlier) => earlier.some((it) => it.kind === 'childRefused') && !earlier.some(isRelease),
  ),
  'a newcomer takes the lock before its heir': before('childRefused', (earlier) => earlier.some(isRelease)),
  'a message about a lock finds no one': inHistory((it) => it.kind === 'signalSent' && it.problem === 'absent'),
  'a lock is held by another run': inHistory((it) => it.kind === 'childRefused'),
  'a hint leads to a read': inReads(({ isHinted }) => isHinted),
  'an operation waits for a service that is down': inRun(wasParked),
  'an operation goes on after the service was down': inRun((run) => isOperation(run) && resumedMs(run) !== null),
  'a deployment of another user is waited for': inRun(
    (run) => recordedReads(run).filter(({ stage, answer }) => stage === 'baseline' && answer?.ok).length > 1,
  ),
  'a trace of a request in doubt is looked for': inReads(({ stage }) => stage === 'trace'),
  'a read is made in place of one that failed': inReads(({ isSecond }) => isSecond),
  ...oneForEach(
    READS,
    (kind) => `a read ends as ${kind}`,
    (kind) => inReads(({ answer }) => answer !== null && !answer.ok && answer.kind === kind),
  ),
  ...oneForEach(
    REQUESTS,
    (type) => `a request ends as ${type}`,
    (type) =>
      inHistory(
        (it) =>
          it.kind === 'activityClosed' &&
          isPost({ name: it.type }) &&
          failureOf(it)?.applicationFailureInfo?.type === type,
      ),
  ),
  ...oneForEach(
    SITE_READS,
    (kind) => `a read of a site ${kind === 'nothing' ? 'shows nothing' : kind}`,
    (kind) => inSiteReads(({ stage, read }) => stage === 'verify' && read?.kind === kind),
  ),
  'a site still shows the commit of before': inRun((run) => {
    const reads = recordedSiteReads(run);
    const before = reads.find(({ stage }) => stage === 'baseline')?.read?.commit ?? null;
    return reads.some(({ stage, read }) => stage === 'verify' && before !== null && read?.commit === before);
  }),
  'a read of a site is lost': inSiteReads(({ read }) => read === null),
  'a freeze is thawed': inHistory((it, { type }) => it.kind === 'terminated' && type === FREEZE_TYPE),
  'a thaw wakes a run': inHistory((it) => it.kind === 'signaled' && it.signal === SIGNALS.thawed),
  'a worker ends with a request': inHistory(
    (it) => Number(failureOf(it)?.timeoutFailureInfo?.timeoutType) === HEARTBEAT,
  ),
  'a task times out': inHistory((it) => it.kind === 'taskTimedOut' && it.startedId !== 0),
  'a worker leaves a task in its own queue': inHistory((it) => it.kind === 'taskTimedOut' && it.startedId === 0),
  'a close is refused because of new events': inHistory((it) => it.kind === 'taskFailed'),
  'an operation is cancelled': inHistory((it, run) => it.kind === 'cancelRequested' && isOperation(run)),
  'an operation is terminated': inHistory((it, run) => it.kind === 'terminated' && isOperation(run)),
  'a run is terminated': inHistory((it, run) => it.kind === 'terminated' && !isOperation(run)),
  'a run is cancelled during its backup': cancelledDuring((earlier) => openChildren(earlier).includes('backupServer')),
  'a run is cancelled during a deployment': cancelledDuring((earlier) => openChildren(earlier).includes('deploySite')),
  'a run is cancelled while it waits for a lock': cancelledDuring(
    (earlier) => openChildren(earlier).length === 0 && earlier.some((it) => it.kind === 'childRefused'),
  ),
};
