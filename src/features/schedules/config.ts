/** Schedules in belay.yaml: the schema, the rules between keys, and the definitions for Temporal. Pure. */
import { z } from 'zod';
import { runOptionsShape, RUN_OPTION_KEYS, toRunOptions, type OptionsInFile } from '../../config/file/run-options.ts';
import {
  cron,
  duration,
  id,
  name,
  oneOf,
  oneOrMore,
  timeOfDay,
  timeZone,
  wholeNumber,
  type Path,
  type ReportIssue,
} from '../../config/file/schema-values.ts';
import type { Configuration } from '../../config/file/file-schema.ts';
import { HOUR_MS } from '../../contract/duration.ts';
import { appTarget, isSameTarget, siteTarget, targetsInput, targetText } from '../../contract/target.ts';
import { definedFields, ownEntry } from '../../contract/plain-object.ts';
import { ROLLOUT_TYPE } from '../../contract/names.ts';
import type { Times, ScheduledInput, Slot, Calendar, ScheduleDefinition } from './shapes.ts';
import { dailyDeadline, planRollout } from '../../config/rollout-plan.ts';
import { buildInventory, keyOf, type Inventory } from '../../config/inventory.ts';
import { scheduleId } from '../../contract/ids.ts';
import { movedTimes, type MovedTime } from '../../request/calendar/local-time.ts';
import { calendarText, DAYS, everFires, MONTHS, timesOf, timesOfDay } from '../../request/calendar/cron-times.ts';

/** Temporal accepts no catch-up window shorter than 10 s. */
const CATCH_UP_LIMITS = [10_000, 30 * 24 * HOUR_MS] as const;
const JITTER_LIMITS = [0, 24 * HOUR_MS] as const;

const NUMBERS = { hour: [0, 23], minute: [0, 59], dayOfMonth: [1, 31] } as const;
function numbers(field: keyof typeof NUMBERS) {
  const limits = NUMBERS[field];
  return oneOrMore(wholeNumber(limits), `write a whole number from ${limits.join(' to ')}, or a list of them`);
}

const calendar = z.strictObject(
  {
    hour: numbers('hour'),
    minute: numbers('minute').optional(),
    dayOfMonth: numbers('dayOfMonth').optional(),
    dayOfWeek: oneOrMore(z.enum(DAYS), `write one of ${DAYS.join(', ')}, or a list of them`).optional(),
    month: oneOrMore(z.enum(MONTHS), `write one of ${MONTHS.join(', ')}, or a list of them`).optional(),
  },
  { error: 'write hour: and the other fields of the calendar below it' },
);

/** A bare id names a site. */
const deployed = z.union([
  id.transform(siteTarget),
  z.strictObject({ app: id }).transform(({ app }) => appTarget(app)),
]);

const start = z
  .strictObject(
    {
      rollout: name.describe('Starts this rollout, by its name in rollouts.').optional(),
      run: id.describe('Backs this server up, then deploys its sites.').optional(),
      backup: id.describe('Backs this server up.').optional(),
      deploy: oneOrMore(deployed, 'write the id of a site, { app: ID } for an app, or a list of them')
        .describe('Deploys these sites and apps.')
        .optional(),
    },
    { error: 'write one of rollout, run, backup and deploy below it' },
  )
  .refine((it) => Object.values(it).filter((value) => value !== undefined).length === 1, {
    error: 'write exactly one of rollout, run, backup and deploy',
  });

const schedule = z
  .strictObject(
    {
      start: start.describe('What to start.'),
      cron: cron.describe('Minute, hour, day of month, month, day of week.').optional(),
      calendar: calendar.describe('Instead of cron. All given fields must match.').optional(),
      timeZone: timeZone.describe('Time zone of its times; default UTC.').optional(),
      deploysUntil: timeOfDay
        .describe('Trigger no deployment after this time of day, the first one after the planned start.')
        .optional(),
      jitter: duration(JITTER_LIMITS)
        .describe('Delay each start by a random time up to this long; default none.')
        .optional(),
      overlap: z
        .enum(['skip', 'queue'])
        .describe('While the last run is in progress: skip a time (default), or queue one run after it.')
        .optional(),
      supersede: z
        .boolean()
        .describe('Replace older runs that wait and that this one covers; requires overlap: queue. Default false.')
        .optional(),
      catchUp: duration(CATCH_UP_LIMITS)
        .describe('Make up for times missed while Temporal was down, if no older than this; default 1h.')
        .optional(),
      pauseOnFailure: z
        .boolean()
        .describe('Pause the schedule when what it started is not completed; default false.')
        .optional(),
      heartbeat: name
        .describe("A name in the worker's notify.heartbeats, called when what it started is completed.")
        .optional(),
      ...runOptionsShape,
    },
    { error: 'write start: and cron: or calendar: below it' },
  )
  .refine((it) => (it.cron === undefined) !== (it.calendar === undefined), {
    error: 'write cron: or calendar:, one of them',
  });

export const schedules = z.record(name, schedule);

type ScheduleConfig = z.infer<typeof schedule>;

export function checkSchedules(configuration: Configuration, report: ReportIssue): void {
  for (const [name, schedule] of Object.entries(configuration.schedules ?? {})) {
    checkSchedule(['schedules', name], schedule, configuration, report);
  }
}

function checkSchedule(path: Path, schedule: ScheduleConfig, configuration: Configuration, report: ReportIssue): void {
  const { start, calendar, heartbeat } = schedule;
  const { rollouts = {}, notify: { heartbeats = {} } = {} } = configuration;
  if (heartbeat !== undefined && !Object.hasOwn(heartbeats, heartbeat)) {
    const remedy = oneOf(heartbeats, 'notify.heartbeats');
    report([...path, 'heartbeat'], `there is no heartbeat ${heartbeat}: ${remedy}`);
  }
  if (!timesOf(schedule).some(everFires)) {
    report([...path, calendar === undefined ? 'cron' : 'calendar'], 'it never fires: no given month has that day');
  }
  if (start.rollout !== undefined && ownEntry(rollouts, start.rollout) === undefined) {
    report([...path, 'start', 'rollout'], `there is no rollout ${start.rollout}: ${oneOf(rollouts, 'rollouts')}`);
  }
  checkOptions(path, schedule, report);
  checkSupersede([...path, 'supersede'], schedule, report);
  checkServer(path, start, configuration, report);
  checkDeployed(path, start, configuration, report);
}

/** Rejects options that have no effect on what the schedule starts. */
function checkOptions(path: Path, schedule: ScheduleConfig, report: ReportIssue): void {
  const { start } = schedule;
  const stray = RUN_OPTION_KEYS.filter((key) => (schedule as OptionsInFile)[key] !== undefined);
  for (const option of stray) {
    const at = [...path, option];
    if (start.rollout !== undefined) report(at, `a rollout has its own options: move it to rollouts.${start.rollout}`);
    if (start.backup !== undefined && option === 'deploy') report(at, 'this schedule deploys nothing: remove it');
    if (start.deploy !== undefined && option === 'backup') report(at, 'this schedule makes no backup: remove it');
  }
}

function checkSupersede(at: Path, schedule: ScheduleConfig, report: ReportIssue): void {
  const { start, supersede, overlap } = schedule;
  if (supersede !== true) return;
  if (start.run === undefined && start.deploy === undefined) {
    report(at, 'only a run that deploys replaces others: start run: or deploy:, or remove it');
  }
  if (overlap !== 'queue') report(at, 'a schedule that skips times has nothing to replace: write overlap: queue');
  if ((schedule as OptionsInFile).ifBusy === 'fail')
    report(at, 'it waits for the lock, and ifBusy is fail: remove one');
}

function checkServer(path: Path, start: ScheduleConfig['start'], { fleets }: Configuration, report: ReportIssue): void {
  const { servers } = buildInventory(fleets);
  for (const kind of ['run', 'backup'] as const) {
    const serverId = start[kind];
    if (serverId === undefined) continue;
    const at = [...path, 'start', kind];
    const server = servers.get(serverId);
    if (server === undefined) report(at, `server ${serverId} is in no fleet: add it under fleets`);
    if (kind === 'run' && server?.targets.length === 0) {
      report(at, `server ${serverId} has no sites or apps in ${keyOf(server)}: write backup: instead`);
    }
  }
}

function checkDeployed(
  path: Path,
  start: ScheduleConfig['start'],
  { fleets }: Configuration,
  report: ReportIssue,
): void {
  const { placeOf } = buildInventory(fleets);
  const targets = start.deploy ?? [];
  const fleet = targets.map(placeOf)[0]?.fleet;
  for (const [index, target] of targets.entries()) {
    const at = [...path, 'start', 'deploy', index];
    const entry = placeOf(target);
    if (entry === undefined) report(at, `${targetText(target)} is in no fleet: add it under fleets`);
    else if (fleet !== undefined && entry.fleet !== fleet) {
      report(at, `${targetText(target)} belongs to fleet ${entry.fleet}, not ${fleet}: write one schedule per fleet`);
    }
    if (targets.findIndex((it) => isSameTarget(it, target)) < index)
      report(at, `duplicate id ${target.id}: remove one`);
  }
}

/* Turns schedules into definitions for Temporal. */

/** How many years to plan ahead for days that skip a time. Every `apply` extends the plan. */
const YEARS_AHEAD = 10;
/** A schedule that fires every hour is not adjusted for daylight saving. */
const HOURS_OF_DAY = 24;

export interface PlannedSchedule {
  definition: ScheduleDefinition;
  moved: MovedTime[];
}

/**
 * Returns the schedules that `belay.yaml` defines. `schedules.plan` takes their definitions. `moved` lists the days on
 * which the clock skips the time of a schedule.
 *
 * @param thisYear the first of the years for which skipped times are planned
 */
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
        fleet,
        schedule: name,
        when,
        timeZone,
        slot,
        catchUpMs,
        pauseOnFailure,
        start,
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

/** `checkSchedules` has made sure that every rollout, server and site exists. */
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
