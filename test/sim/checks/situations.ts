/** What a batch of plays must have met: draws that become too tame are noticed. */
import { defaultPayloadConverter as payloads } from '@temporalio/common';
import { SIGNALS } from '../../../src/contract/names.ts';
import type { LockReleased } from '../../../src/contract/operation.ts';
import type { RunResult } from '../../../src/contract/run.ts';
import type { HistoryEvent } from '../core/events.ts';
import type { Play } from '../plays/play.ts';
import { isOperation, type Run } from '../temporal/types.ts';
import { recordedReads } from './recorded-reads.ts';

type Shows = (play: Play) => boolean;

const inHistory =
  (shows: (event: HistoryEvent, run: Run) => boolean): Shows =>
  ({ world }) =>
    world.server.runs.some((run) => run.history.some((event) => shows(event, run)));

const inResult =
  (shows: (result: RunResult) => boolean): Shows =>
  ({ played }) =>
    played.runs.some(({ result }) => result !== null && shows(result));

const HEARTBEAT = 4;

const SITUATIONS: Record<string, Shows> = {
  'a lock is handed over': inHistory((it) => it.kind === 'signaled' && it.signal === SIGNALS.lockReleased),
  'a lock is handed over with a queue': inHistory(
    (it) =>
      it.kind === 'signaled' &&
      it.signal === SIGNALS.lockReleased &&
      payloads.fromPayload<LockReleased>(it.input[0]!).waiters.length > 0,
  ),
  'a message about a lock finds no one': inHistory((it) => it.kind === 'signalSent' && it.problem === 'absent'),
  'a hint leads to a read': ({ world }) =>
    world.server.runs.some((run) => recordedReads(run).some(({ isHinted }) => isHinted)),
  'a run is busy': inResult(({ error }) => error?.type === 'Busy'),
  'a lock is held by another run': inHistory((it) => it.kind === 'childRefused'),
  'a backup is shared': inResult(({ backup }) => backup?.source === 'shared'),
  'a backup is reused': inResult(({ backup }) => backup?.source === 'reused'),
  'a request in doubt is sent again': inResult(({ deployments }) =>
    deployments.some(({ trigger }) => trigger.reconciledBy === 'resent'),
  ),
  'a request in doubt left a trace': inResult(({ deployments }) =>
    deployments.some(({ trigger }) => trigger.reconciledBy !== null && trigger.reconciledBy !== 'resent'),
  ),
  'a backup in doubt is made again': inResult(({ backup }) => backup?.trigger.reconciledBy === 'resent'),
  'a worker ends with a request': inHistory(
    (it) =>
      it.kind === 'activityClosed' &&
      'failure' in it.outcome &&
      Number(it.outcome.failure.timeoutFailureInfo?.timeoutType) === HEARTBEAT,
  ),
  'a task times out': inHistory((it) => it.kind === 'taskTimedOut' && it.startedId !== 0),
  'a worker leaves a task in its own queue': inHistory((it) => it.kind === 'taskTimedOut' && it.startedId === 0),
  'a close is refused because of new events': inHistory((it) => it.kind === 'taskFailed'),
  'a local activity outlives its task': ({ world }) => world.seen.has('a local activity outlived its task'),
  'an operation is cancelled': inHistory((it, run) => it.kind === 'cancelRequested' && isOperation(run)),
  'an operation is terminated': inHistory((it, run) => it.kind === 'terminated' && isOperation(run)),
  'a run is terminated': inHistory((it, run) => it.kind === 'terminated' && !isOperation(run)),
  'a run completes': inResult(({ outcome }) => outcome === 'completed'),
  'a run fails': inResult(({ outcome }) => outcome === 'failed'),
  'a run times out': inResult(({ outcome }) => outcome === 'timed_out'),
  'a run ends unknown': inResult(({ outcome }) => outcome === 'unknown'),
  'a run is cancelled': inResult(({ outcome }) => outcome === 'cancelled'),
  'a run starts nothing': inResult(({ outcome }) => outcome === 'not_started'),
};

export const situationsIn = (play: Play): string[] => Object.keys(SITUATIONS).filter((name) => SITUATIONS[name]!(play));

export const notMet = (met: ReadonlySet<string>): string[] => Object.keys(SITUATIONS).filter((name) => !met.has(name));
