/** What needs a person's decision after a restore of Temporal's database. Reads only. */
import type { Session } from '../../client/session.ts';
import { identitiesOf } from '../../client/workers.ts';
import { listEndedByRestore, listInFlight, type InFlight } from './other-epoch.ts';
import { listSchedules, type ScheduleState } from '../schedules/client-state.ts';
import { parseIdentity } from '../../contract/worker-identity.ts';
import type { Report } from '../../cli/doctor-check.ts';

const CHECK = 'check at the service whether it was done';

/** @param epoch the word in `BELAY_EPOCH` */
export async function findUndecided(session: Session, epoch: string): Promise<Report[]> {
  const inFlight = await listInFlight(session);
  const others = inFlight.filter((it) => it.epoch !== epoch);
  const restoredBy = await latestRestore(session);
  const schedules = (await listSchedules(session)).filter((it) => !it.paused && (lastFiring(it) ?? '') < restoredBy);
  return [
    epochReport(epoch, inFlight.length - others.length, inFlight.length),
    ...(await listEndedByRestore(session)).map(({ workflowId, error }) =>
      warning(workflowId ?? '', `ended unknown: ${error?.message ?? ''}`, `${CHECK}, then start a new run`),
    ),
    ...others.map(inFlightReport),
    ...schedules.map(scheduleReport),
  ];
}

function epochReport(epoch: string, ofIt: number, all: number): Report {
  const message = `BELAY_EPOCH is ${epoch}; ${ofIt} of ${all} runs and operations in flight began in it`;
  if (ofIt === 0) return { name: 'epoch', state: 'ok', message };
  const remedy = 'if no worker has run since the restore, set BELAY_EPOCH to another word before you start one';
  return warning('epoch', message, remedy);
}

function inFlightReport({ workflowId, epoch, lockedBy, request }: InFlight): Report {
  if (epoch === null) {
    const message = 'has not begun, as far as Temporal remembers: workers will begin it, for the second time perhaps';
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
  const stands = request === 'none' ? 'it stands before its request' : 'its request has no answer';
  return warning(workflowId, `${lock}; ${stands}, as far as Temporal remembers`, `${CHECK}, then start a new run`);
}

function scheduleReport(schedule: ScheduleState): Report {
  const { scheduleId } = schedule;
  const message = `last fired ${lastFiring(schedule) ?? 'never'}, as far as Temporal remembers: a later slot may be done again`;
  return warning(
    scheduleId,
    message,
    `${CHECK}; if it was, \`belay schedule pause ${scheduleId}\` until its next slot`,
  );
}

const lastFiring = ({ last: [newest] }: ScheduleState): string | null => newest?.firedAt ?? null;

/** Workers start after the restore, so it was not later than the first of them. */
async function latestRestore(session: Session): Promise<string> {
  const workers = identitiesOf(await session.workers());
  const since = workers.flatMap((identity) => parseIdentity(identity)?.since ?? []).sort();
  return since[0] ?? new Date().toISOString();
}

const warning = (name: string, message: string, remedy: string): Report => ({
  name,
  state: 'warning',
  message,
  remedy,
});
