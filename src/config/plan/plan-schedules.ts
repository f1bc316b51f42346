/** What a schedule of belay.yaml is in Temporal. Pure, but for this year. */
import type { ScheduleConfig } from '../file/fleet-schema.ts';
import type { Configuration } from '../file/file-schema.ts';
import { HOUR_MS } from '../../contract/wording/duration.ts';
import { ROLLOUT_TYPE, type ScheduledInput, type Slot } from '../../contract/rollout.ts';
import { planRollout } from './plan-rollout.ts';
import { registerOf, type Register } from './inventory.ts';
import { runOptionsOf } from '../../request/run-options.ts';
import { given } from '../../contract/plain-object.ts';
import { scheduleId } from '../../contract/ids/workflow-ids.ts';
import { movedTimes, type MovedTime } from '../../request/calendar/local-time.ts';
import { calendarText, timesOf, timesOfDay, type Times } from '../../request/calendar/cron-times.ts';

/** Days without one of the times are known for so long; `apply` in a later year makes it longer. */
const YEARS_AHEAD = 10;
/** Every hour of the day: what fires so often is not done once a time. */
const EVERY_HOUR = 24;

/** A time of one year, where the clock jumps over another. */
export type Calendar = Times & { year: number | null; comment: string };

export interface ScheduleDefinition {
  scheduleId: string;
  input: ScheduledInput;
  calendars: Calendar[];
  timeZone: string;
  jitterMs: number;
  overlap: 'skip' | 'queue';
  catchUpMs: number;
  pauseOnFailure: boolean;
}

export interface PlannedSchedule {
  definition: ScheduleDefinition;
  moved: MovedTime[];
}

export function planSchedules(configuration: Configuration, thisYear: number): PlannedSchedule[] {
  const register = registerOf(configuration.fleets);
  return Object.entries(configuration.schedules ?? {}).map(([name, schedule]) =>
    planSchedule(name, schedule, { configuration, register, thisYear }),
  );
}

interface Surroundings {
  configuration: Configuration;
  register: Register;
  thisYear: number;
}

function planSchedule(name: string, schedule: ScheduleConfig, around: Surroundings): PlannedSchedule {
  const { timeZone = 'UTC', jitter, overlap, catchUp, pauseOnFailure, cron, calendar } = schedule;
  const times = timesOf(schedule);
  const when = cron ?? (calendar === undefined ? '' : calendarText(calendar));
  const slot = slotRule(times);
  const years = [around.thisYear, around.thisYear + YEARS_AHEAD] as const;
  const moved = slot.once === 'instant' ? [] : times.flatMap((it) => movedTimes(it, timeZone, years));
  const catchUpMs = catchUp ?? HOUR_MS;
  const { fleet, start } = startOf(schedule, around);
  return {
    definition: {
      scheduleId: scheduleId(fleet, name),
      input: { fleet, schedule: name, when, timeZone, slot, catchUpMs, start },
      calendars: [
        ...times.map((it) => ({ ...it, year: null, comment: when.slice(0, 200) })),
        ...moved.map(movedCalendar),
      ],
      timeZone,
      jitterMs: jitter ?? 0,
      overlap: overlap ?? 'skip',
      catchUpMs,
      pauseOnFailure: pauseOnFailure ?? false,
    },
    moved,
  };
}

/** As cron has it: fixed times are done once, also on a day that has one of them twice; what fires all day is not. */
function slotRule(times: Times[]): Slot {
  const ofDay = [...new Set(times.flatMap(timesOfDay))];
  if (times.some(({ hour }) => hour.length === EVERY_HOUR)) return { once: 'instant', times: [] };
  return { once: ofDay.length === 1 ? 'day' : 'time', times: ofDay };
}

function movedCalendar({ time, to }: MovedTime): Calendar {
  return {
    minute: [to.minute],
    hour: [to.hour],
    dayOfMonth: [to.day],
    month: [to.month],
    dayOfWeek: [0, 1, 2, 3, 4, 5, 6],
    year: to.year,
    comment: `there is no ${time} on this day`,
  };
}

/** The file was checked: whatever it names is there. */
function startOf(
  { start, heartbeat, ...schedule }: ScheduleConfig,
  { configuration, register }: Surroundings,
): Pick<ScheduledInput, 'fleet' | 'start'> {
  const more = given({ heartbeat });
  if (start.rollout !== undefined) {
    const input = { ...planRollout(configuration, start.rollout), ...more };
    return { fleet: input.fleet, start: { type: ROLLOUT_TYPE, input } };
  }
  const options = { ...runOptionsOf(schedule), ...more };
  if (start.deploy !== undefined) {
    const fleet = register.sites.get(start.deploy[0] ?? '')?.fleet ?? '';
    return { fleet, start: { type: 'deployOnly', input: { siteIds: start.deploy, ...options } } };
  }
  const { fleet = '', serverId = '', siteIds = [] } = register.servers.get(start.run ?? start.backup ?? '') ?? {};
  return start.run === undefined
    ? { fleet, start: { type: 'backupOnly', input: { serverId, siteIds: [], ...options } } }
    : { fleet, start: { type: 'backupThenDeploy', input: { serverId, siteIds, ...options } } };
}
