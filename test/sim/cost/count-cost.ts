/** What histories cost: events, workflow tasks, and Actions as Temporal Cloud bills them, each by its cause. */
import { BACKUP_RECORD_TYPE } from '../../../src/contract/names.ts';
import { isPost } from '../../support/post-activities.ts';
import { isOfTask, type HistoryEvent } from '../core/events.ts';
import { isOperation, type Run } from '../temporal/types.ts';

export const CAUSES = {
  startAndEnd: 'start, first task and end of the run and its operations',
  children: 'operations, as children of the run',
  record: 'the record of the backup',
  attributes: 'search attributes',
  admission: 'admission: the worker, the sites, a backup in progress',
  posts: 'POSTs',
  reads: 'reads, with their timers',
  heartbeats: 'heartbeats of POSTs and pooled waits',
  signals: 'signals',
} as const;

export type Cause = keyof typeof CAUSES;

export interface Cost {
  events: number;
  tasks: number;
  actions: number;
}

export type Costs = Record<Cause, Cost>;

export function costsOf(runs: readonly Run[]): Costs {
  const costs = Object.fromEntries(
    Object.keys(CAUSES).map((cause) => [cause, { events: 0, tasks: 0, actions: 0 }]),
  ) as Costs;
  for (const run of runs) addCosts(costs, run);
  return costs;
}

function addCosts(costs: Costs, run: Run): void {
  costs.heartbeats.actions += run.heartbeats;
  const ownCause = run.type === BACKUP_RECORD_TYPE ? 'record' : null;
  let ofTask: Cause = 'startAndEnd';
  run.history.forEach((event, index) => {
    if (event.kind === 'taskScheduled') ofTask = causeOf(run, run.history[index - 1]!);
    const cost = costs[ownCause ?? (isOfTask(event) ? ofTask : causeOf(run, event))];
    cost.events += 1;
    if (event.kind === 'taskStarted') cost.tasks += 1;
    cost.actions += actionsOf(event);
  });
}

/** What an event is for, also as the one that brings a task. */
function causeOf(run: Run, event: HistoryEvent): Cause {
  switch (event.kind) {
    case 'attributes':
      return 'attributes';
    case 'childInitiated':
    case 'childStarted':
    case 'childRefused':
    case 'childClosed':
      return event.type === BACKUP_RECORD_TYPE ? 'record' : 'children';
    case 'activityScheduled':
    case 'activityStarted':
    case 'activityClosed':
      return causeOfActivity(run, scheduledType(run, event) ?? '');
    case 'timerStarted':
    case 'timerFired':
    case 'timerCanceled':
      return 'reads';
    case 'signaled':
    case 'signalInitiated':
    case 'signalSent':
      return 'signals';
    default:
      return 'startAndEnd';
  }
}

function causeOfActivity(run: Run, name: string): Cause {
  if (isPost({ name })) return 'posts';
  if (name === 'writeBackupRecord') return 'record';
  return isOperation(run) ? 'reads' : 'admission';
}

function scheduledType({ history }: Run, event: HistoryEvent): string | null {
  const scheduled =
    'scheduledId' in event && event.kind.startsWith('activity') ? history[event.scheduledId - 1] : event;
  return scheduled?.kind === 'activityScheduled' ? scheduled.type : null;
}

/** https://docs.temporal.io/cloud/actions */
function actionsOf(event: HistoryEvent): number {
  switch (event.kind) {
    case 'started':
      return event.parent === null ? 1 : 0;
    case 'childInitiated':
      return 2;
    case 'timerStarted':
    case 'activityStarted':
    case 'attributes':
    case 'signaled':
      return 1;
    default:
      return 0;
  }
}
