/** Finds what needs a person's decision after a restore of Temporal's database. It only reads. */
import type { Client } from '@temporalio/client';
import pMap from 'p-map';
import { type Session, IN_PARALLEL } from '../../client/session.ts';
import { pollerIdentities } from '../../client/workers.ts';
import { listSchedules, type ScheduleState } from '../schedules/client-state.ts';
import { parseIdentity } from '../../contract/worker-identity.ts';
import type { CheckReport } from '../../cli/doctor-check.ts';
import { OPERATION_TYPES, POST_ACTIVITIES, RUN_TYPES } from '../../contract/names.ts';
import type { RunResult } from '../../contract/run.ts';
import { isFromRestore } from '../../contract/service-identity.ts';
import { type Listed, newest, ofTypes, RUNNING } from '../../client/list-filter.ts';
import { unlessMissing } from '../../client/read-workflow.ts';
import { decoded } from '../../client/decode-payloads.ts';
import type { Events } from '../../client/runs/run-history.ts';
import { readResult } from '../../client/runs/list-runs.ts';
import { leniently } from '../../encryption/payload-codec.ts';

const CHECK = 'check at the service whether it was done';

/** @param epoch the word in `BELAY_EPOCH` */
export async function findUndecided(session: Session, epoch: string): Promise<CheckReport[]> {
  const running = await newest(session, `${ofTypes([...RUN_TYPES, ...OPERATION_TYPES])} AND ${RUNNING}`, LIMIT);
  const failed = await newest(session, `${ofTypes(RUN_TYPES)} AND ExecutionStatus = 'Failed'`, LIMIT);
  const inFlight = await listInFlight(session, running);
  const others = inFlight.filter((it) => it.epoch !== epoch);
  const restoredBy = await latestRestore(session);
  const schedules = (await listSchedules(session)).filter((it) => !it.paused && (lastFiring(it) ?? '') < restoredBy);
  return [
    epochReport(epoch, inFlight),
    ...(await listEndedByRestore(session, failed)).map(endedReport),
    ...others.map(inFlightReport),
    ...limitReports('runs and operations in flight', running.length),
    ...limitReports('failed runs', failed.length),
    ...schedules.map(scheduleReport),
  ];
}

function epochReport(epoch: string, inFlight: readonly LeftInFlight[]): CheckReport {
  const begun = inFlight.filter((it) => it.epoch === epoch).length;
  const unread = inFlight.filter((it) => it.epoch === null && it.unreadable !== null).length;
  const known = `BELAY_EPOCH is ${epoch}; ${begun} of ${inFlight.length} runs and operations in flight began in it`;
  const message = unread === 0 ? known : `${known}, and the epoch of ${unread} cannot be read`;
  if (begun + unread === 0) return { name: 'epoch', state: 'ok', message };
  const remedy = 'if no worker has run since the restore, set BELAY_EPOCH to another word before you start one';
  return warning('epoch', message, remedy);
}

function endedReport({ workflowId, error, unreadable }: RunResult): CheckReport {
  const why = unreadable === undefined ? (error?.message ?? '') : `the reason cannot be read: ${unreadable}`;
  return warning(workflowId ?? '', `ended unknown: ${why}`, `${CHECK}, then start a new run`);
}

function inFlightReport({ workflowId, epoch, lockedBy, request, unreadable }: LeftInFlight): CheckReport {
  if (epoch === null && unreadable !== null) {
    const lock = request === null ? '' : `; it holds this lock for ${lockedBy ?? 'no run'}, ${REQUESTS[request]}`;
    return warning(workflowId, `in flight, of an epoch that cannot be read: ${unreadable}${lock}`, CHECK);
  }
  if (epoch === null) {
    const message = 'has not begun, as far as Temporal remembers: workers will begin it, perhaps for the second time';
    return warning(
      workflowId,
      message,
      `${CHECK}; if it was, \`belay cancel ${workflowId}\` before you start a worker`,
    );
  }
  const of = `in flight, of epoch ${epoch}`;
  if (request === null) return warning(workflowId, `${of}: it sends nothing more`, 'wait for its end, then decide');
  const lock = `${of}: holds this lock for ${lockedBy ?? 'no run'}`;
  if (request === 'answered') {
    return warning(workflowId, `${lock}; its request was answered, and it follows the operation`, 'wait for its end');
  }
  return warning(
    workflowId,
    `${lock}; ${REQUESTS[request]}, as far as Temporal remembers`,
    `${CHECK}, then start a new run`,
  );
}

/** @param found how many were listed, up to the limit */
export const limitReports = (what: string, found: number): CheckReport[] =>
  found < LIMIT.limit
    ? []
    : [
        warning(
          'limit',
          `only the newest ${LIMIT.limit} ${what} were looked at`,
          'look at the others in the Temporal UI',
        ),
      ];

const REQUESTS = {
  none: 'it has sent no request',
  unanswered: 'its request has no answer',
  answered: 'its request was answered',
} as const;

function scheduleReport(schedule: ScheduleState): CheckReport {
  const { scheduleId } = schedule;
  const message = `last fired ${lastFiring(schedule) ?? 'never'}, as far as Temporal remembers: a later slot may be done again`;
  return warning(
    scheduleId,
    message,
    `${CHECK}; if it was, \`belay schedule pause ${scheduleId}\` until its next slot`,
  );
}

const lastFiring = ({ last: [newest] }: ScheduleState): string | null => newest?.firedAt ?? null;

/** Workers start after the restore, so the restore was no later than the first of them. */
async function latestRestore(session: Session): Promise<string> {
  const workers = pollerIdentities(await session.workers());
  const since = workers.flatMap((identity) => parseIdentity(identity)?.since ?? []).sort();
  return since[0] ?? new Date().toISOString();
}

const warning = (name: string, message: string, remedy: string): CheckReport => ({
  name,
  state: 'warning',
  message,
  remedy,
});

/*
 * Lists the runs that a restore of Temporal's database left behind. It asks only Temporal, because people ask this
 * before any worker runs again.
 */

/** Bounds how long the command takes: it reads the result or history of each. */
const LIMIT = { limit: 1_000 };

/** The newest first. */
async function listEndedByRestore(session: Session, failed: readonly Listed[]): Promise<RunResult[]> {
  const results = await pMap(failed, (info) => readResult(session, info), IN_PARALLEL);
  return results.filter(({ outcome, error, unreadable }) =>
    // What cannot be read may have ended for any reason.
    unreadable === undefined
      ? outcome === 'unknown' && isFromRestore(error?.message ?? '')
      : outcome === 'unknown' || outcome === null,
  );
}

interface LeftInFlight {
  workflowId: string;
  /** The epoch in which the workflow began. Null if it has not begun. */
  epoch: string | null;
  /** The run that holds the lock, if this is an operation. */
  lockedBy: string | null;
  /** Whether the history of an operation shows a request, and an answer to it. Null for a run. */
  request: 'none' | 'unanswered' | 'answered' | null;
  /** Why some of the history cannot be read. Null if all of it that was looked at can. */
  unreadable: string | null;
}

async function listInFlight(session: Session, running: readonly Listed[]): Promise<LeftInFlight[]> {
  const found = await pMap(
    running,
    async ({ workflowId, runId, type, raw }): Promise<LeftInFlight | null> => {
      const isOperation = OPERATION_TYPES.includes(type);
      // The list lags, so it may have ended and be deleted since.
      const history = await unlessMissing(session.client.workflow.getHandle(workflowId, runId).fetchHistory());
      if (history === null) return null;
      const events = history.events ?? [];
      const { answer: epoch, unreadable } = await leniently(() => epochIn(session.client, events));
      const lockedBy = isOperation ? (raw.parentExecution?.workflowId ?? null) : null;
      return { workflowId, epoch, lockedBy, request: isOperation ? requestIn(events) : null, unreadable };
    },
    IN_PARALLEL,
  );
  return found.filter((it) => it !== null);
}

/** Operations have the epoch in their input. Runs have it in what a worker reported about itself. */
async function epochIn(client: Client, events: Events): Promise<string | null> {
  for (const event of events) {
    const payloads =
      event.workflowExecutionStartedEventAttributes?.input?.payloads ??
      event.activityTaskCompletedEventAttributes?.result?.payloads;
    const { epoch } = (await decoded<{ epoch?: unknown }>(client, payloads)) ?? {};
    if (typeof epoch === 'string') return epoch;
  }
  return null;
}

function requestIn(events: Events): LeftInFlight['request'] {
  const scheduled = events.findLast((event) =>
    POST_ACTIVITIES.includes(event.activityTaskScheduledEventAttributes?.activityType?.name ?? ''),
  );
  if (scheduled === undefined) return 'none';
  const isAnswered = events.some((event) => {
    const ended =
      event.activityTaskCompletedEventAttributes ??
      event.activityTaskFailedEventAttributes ??
      event.activityTaskTimedOutEventAttributes;
    return ended?.scheduledEventId?.toString() === scheduled.eventId?.toString();
  });
  return isAnswered ? 'answered' : 'unanswered';
}
