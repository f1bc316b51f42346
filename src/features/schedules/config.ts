/** Turns schedules from belay.yaml into definitions for Temporal. Pure. */
import type { ScheduleConfig } from '../rollouts/config.ts';
import type { Configuration } from '../../config/file/file-schema.ts';
import { HOUR_MS } from '../../contract/duration.ts';
import { targetsInput } from '../../contract/target.ts';
import { ROLLOUT_TYPE } from '../../contract/names.ts';
import type { Times, ScheduledInput, Slot, Calendar, ScheduleDefinition } from './shapes.ts';
import { dailyDeadline, planRollout } from '../rollouts/config-plan.ts';
import { buildInventory, type Inventory } from '../../config/inventory.ts';
import { toRunOptions } from '../../config/file/run-options.ts';
import { definedFields } from '../../contract/plain-object.ts';
import { scheduleId } from '../../contract/ids.ts';
import { movedTimes, type MovedTime } from '../../request/calendar/local-time.ts';
import { calendarText, timesOf, timesOfDay } from '../../request/calendar/cron-times.ts';

/** How many years to plan ahead for days that skip a time. Every `apply` extends the plan. */
const YEARS_AHEAD = 10;
/** A schedule that fires every hour is not adjusted for daylight saving. */
const HOURS_OF_DAY = 24;

export interface PlannedSchedule {
  definition: ScheduleDefinition;
  moved: MovedTime[];
}

export function planSchedules(configuration: Configuration, thisYear: number): PlannedSchedule[] {
  const inventory = buildInventory(configuration.fleets);
  return Object.entries(configuration.schedules ?? {}).map(([name, schedule]) =>
    planSchedule(name, schedule, { configuration, inventory, thisYear }),
  );
}

interface PlanContext {
  configuration: Configuration;
  inventory: Inventory;
  thisYear: number;
}

function planSchedule(name: string, schedule: ScheduleConfig, context: PlanContext): PlannedSchedule {
  const { timeZone = 'UTC', jitter, overlap, catchUp, pauseOnFailure = false, cron, calendar } = schedule;
  const times = timesOf(schedule);
  const when = cron ?? (calendar === undefined ? '' : calendarText(calendar));
  const slot = slotRule(times);
  const years = [context.thisYear, context.thisYear + YEARS_AHEAD] as const;
  const moved = slot.granularity === 'instant' ? [] : times.flatMap((it) => movedTimes(it, timeZone, years));
  const catchUpMs = catchUp ?? HOUR_MS;
  const { fleet, start } = startOf(schedule, context);
  return {
    definition: {
      scheduleId: scheduleId(fleet, name),
      input: {
        ...{ fleet, schedule: name, when, timeZone, slot, catchUpMs, pauseOnFailure, start },
        ...(jitter === undefined ? {} : { jitterMs: jitter }),
        ...(overlap === 'queue' ? { queues: true } : {}),
      },
      calendars: [
        ...times.map((it) => ({ ...it, year: null, comment: when.slice(0, 200) })),
        ...moved.map(movedCalendar),
      ],
      timeZone,
      jitterMs: jitter ?? 0,
      overlap: overlap ?? 'skip',
      catchUpMs,
      pauseOnFailure,
    },
    moved,
  };
}

/**
 * As in cron, a fixed time starts once on a day that has it twice. A schedule that fires every hour starts each time.
 */
function slotRule(times: Times[]): Slot {
  const ofDay = [...new Set(times.flatMap(timesOfDay))];
  if (times.some(({ hour }) => hour.length === HOURS_OF_DAY)) return { granularity: 'instant', times: [] };
  return { granularity: ofDay.length === 1 ? 'day' : 'time', times: ofDay };
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

/** checkFleets has made sure that every rollout, server and site exists. */
function startOf(
  { start, heartbeat, supersede, ...schedule }: ScheduleConfig,
  { configuration, inventory }: PlanContext,
): Pick<ScheduledInput, 'fleet' | 'start'> {
  const more = { ...definedFields({ heartbeat }), ...dailyDeadline(schedule) };
  if (start.rollout !== undefined) {
    const input = { ...planRollout(configuration, start.rollout), ...more };
    return { fleet: input.fleet, start: { type: ROLLOUT_TYPE, input } };
  }
  const options = { ...toRunOptions(schedule), ...more, ...(supersede === true ? { supersede } : {}) };
  if (start.deploy !== undefined) {
    const fleet = start.deploy.map(inventory.placeOf)[0]?.fleet ?? '';
    return { fleet, start: { type: 'deployOnly', input: { ...targetsInput(start.deploy), ...options } } };
  }
  const { fleet = '', serverId = '', targets = [] } = inventory.servers.get(start.run ?? start.backup ?? '') ?? {};
  return start.run === undefined
    ? { fleet, start: { type: 'backupOnly', input: { serverId, ...options } } }
    : { fleet, start: { type: 'backupThenDeploy', input: { serverId, ...targetsInput(targets), ...options } } };
}
