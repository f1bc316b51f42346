/** Fleets, rollouts and schedules in belay.yaml: the schema, and the rules between keys. */
import { z } from 'zod';
import { HOUR_MS } from '../../contract/duration.ts';
import { appTarget, siteTarget, isSameTarget, targetText } from '../../contract/target.ts';
import { MAX_AT_ONCE, MAX_TARGETS } from '../../request/limits.ts';
import { validateId } from '../../request/validate-id.ts';
import { isTimeZone } from '../../request/calendar/local-time.ts';
import { cronTimes, DAYS, MONTHS, everFires, timesOf } from '../../request/calendar/cron-times.ts';
import { after, onGates } from '../gates/config.ts';
import { runOptionsShape, RUN_OPTION_KEYS, type OptionsInFile } from '../../config/file/run-options.ts';
import {
  AS_WRITTEN,
  KEPT,
  duration,
  id,
  ids,
  label,
  name,
  oneOrMore,
  countOrPercent,
  timeOfDay,
  wholeNumber,
  oneOf,
  type Path,
  type ReportIssue,
} from '../../config/file/schema-values.ts';
import { lockIdOf } from '../../contract/ids.ts';
import { keyOf, buildInventory, targetsOn, type InventoryEntry } from '../../config/inventory.ts';
import { REMAINING, wavesOf } from './config-plan.ts';
import { ownEntry } from '../../contract/plain-object.ts';
import type { Configuration } from '../../config/file/file-schema.ts';

/** Temporal accepts no catch-up window shorter than 10 s. */
const CATCH_UP_LIMITS = [10_000, 30 * 24 * HOUR_MS] as const;
const JITTER_LIMITS = [0, 24 * HOUR_MS] as const;

/** Only `toRunOptions` reads these keys. */
const runOptions = runOptionsShape as Record<'backup' | 'deploy' | 'keepGoing', z.ZodOptional<z.ZodUnknown>>;

const labels = z.record(z.string().min(1), label);

const server = z.strictObject(
  {
    sites: ids.describe('Its sites, in the order in which they are deployed.').optional(),
    apps: ids.describe('Its apps, which are deployed after the sites.').optional(),
    labels: labels.describe('Labels you choose, for waves.').optional(),
  },
  { error: 'write sites:, apps: or labels: below it, or nothing' },
);

const serverId = z.string().superRefine((text, context) => {
  const problem = validateId(text);
  if (problem !== null) context.addIssue(`the id ${problem}: write it as the service does`);
});

const fleet = z.strictObject(
  {
    servers: z
      .record(
        serverId,
        server.nullable().transform((it) => it ?? {}),
        { error: 'write the servers below it, by their ids' },
      )
      .refine((servers) => Object.keys(servers).length > 0, { error: 'name at least one server' })
      // Objects put keys that look like numbers first; load.ts restores the order of the file.
      .transform((servers) => new Map(Object.entries(servers)))
      .describe('Servers, by their ids.'),
  },
  { error: 'write servers: and the servers below it' },
);

const wave = z
  .strictObject(
    {
      name: name.optional(),
      labels: labels.describe('Takes servers that have all of these labels.').optional(),
      servers: countOrPercent
        .refine((value) => Number.parseFloat(String(value)) > 0, {
          error: 'write a number of servers from 1, or a percentage',
        })
        .describe('How many servers, as a number or a percentage of the fleet; default all.')
        .optional(),
      after: after.describe('What has to pass after this wave, before the next one starts.').optional(),
      approval: name.describe('Which entry of approvals has to be given before this wave starts.').optional(),
    },
    { error: 'write labels: or servers: to say which servers go in this wave' },
  )
  .refine((it) => Object.keys(it.labels ?? {}).length > 0 || it.servers !== undefined, {
    error: 'write labels: or servers: to say which servers go in this wave',
  });

export const timeZone = z.string().refine(isTimeZone, { error: 'write a time zone like Europe/Berlin or UTC' });

const rollout = z.strictObject(
  {
    fleet: z.string({ error: 'write the name of a fleet' }).register(AS_WRITTEN, KEPT),
    waves: z
      .array(wave)
      .min(1, { error: 'name at least one wave, or leave waves out' })
      .describe('Run one after another. Servers that no wave takes come last.')
      .optional(),
    maxAtOnce: wholeNumber([1, MAX_AT_ONCE])
      .describe('Maximum number of servers in progress at the same time; default 1.')
      .optional(),
    maxFailures: countOrPercent
      .describe(
        'How many servers may fail, which means not completed, as a number or a percentage of the fleet; default 0.',
      )
      .optional(),
    onFailures: z
      .enum(['stop', 'pause'])
      .describe('After more failures than that: start no more servers (default), or pause for a decision.')
      .optional(),
    onGates: onGates.describe('What to do after gates that do not pass.').optional(),
    deploysUntil: timeOfDay
      .describe('Trigger no deployment after this time of day, the first one after the start.')
      .optional(),
    timeZone: timeZone.describe('Time zone of deploysUntil; default UTC.').optional(),
    ...runOptions,
  },
  { error: 'write fleet: and the options of the rollout below it' },
);

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

export const cron = z
  .string({ error: 'write minute, hour, day of month, month, day of week: 30 2 * * *' })
  .superRefine((text, context) => {
    try {
      cronTimes(text);
    } catch (error) {
      context.addIssue((error as Error).message);
    }
  });

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
      ...runOptions,
    },
    { error: 'write start: and cron: or calendar: below it' },
  )
  .refine((it) => (it.cron === undefined) !== (it.calendar === undefined), {
    error: 'write cron: or calendar:, one of them',
  });

export const fleets = z.record(name, fleet);
export const rollouts = z.record(name, rollout);
export const schedules = z.record(name, schedule);

export type ServerConfig = z.infer<typeof server>;
export type FleetConfig = z.infer<typeof fleet>;
export type RolloutConfig = z.infer<typeof rollout>;
export type ScheduleConfig = z.infer<typeof schedule>;

/* Checks the references between fleets, rollouts and schedules in belay.yaml. */

export function checkFleets(configuration: Configuration, report: ReportIssue): void {
  checkInventory(configuration, report);
  for (const [name, rollout] of Object.entries(configuration.rollouts ?? {})) {
    checkRollout(['rollouts', name], rollout, configuration, report);
  }
  for (const [name, schedule] of Object.entries(configuration.schedules ?? {})) {
    checkSchedule(['schedules', name], schedule, configuration, report);
  }
}

function checkInventory({ fleets = {}, inventory }: Configuration, report: ReportIssue): void {
  if (inventory === 'strict' && Object.keys(fleets).length === 0)
    report(['inventory'], 'it would refuse every run, as there are no fleets: add fleets, or remove it');
  const servers = new Map<string, InventoryEntry>();
  const places = new Map<string, InventoryEntry>();
  for (const [fleet, config] of Object.entries(fleets)) {
    let count = 0;
    for (const [serverId, server] of config.servers) {
      const targets = targetsOn(server);
      const path = ['fleets', fleet, 'servers', serverId];
      const before = servers.get(serverId);
      if (before !== undefined)
        report(path, `server ${serverId} is already in ${keyOf(before)}: remove one; labels can group servers`);
      servers.set(serverId, { fleet, serverId });
      for (const target of targets) {
        const entry = places.get(lockIdOf(target));
        const list = `${target.kind}s` as const;
        const at = [...path, list, server[list]?.indexOf(target.id) ?? 0];
        if (entry !== undefined) {
          report(at, `${targetText(target)} is already in ${keyOf(entry)}: ${A[target.kind]} has only one server`);
        }
        places.set(lockIdOf(target), { fleet, serverId });
      }
      count += Math.max(1, targets.length);
    }
    if (count > MAX_TARGETS)
      report(['fleets', fleet], `it has more than ${MAX_TARGETS} sites and apps: split it into two fleets`);
  }
}

const A = { site: 'a site', app: 'an app' } as const;

function checkRollout(path: Path, rollout: RolloutConfig, { fleets = {} }: Configuration, report: ReportIssue): void {
  const fleet = ownEntry(fleets, rollout.fleet);
  if (fleet === undefined) {
    return report([...path, 'fleet'], `there is no fleet ${rollout.fleet}: ${oneOf(fleets, 'fleets')}`);
  }
  const waves = wavesOf(fleet, rollout.waves);
  for (const [index, { name: own }] of (rollout.waves ?? []).entries()) {
    const at = [...path, 'waves', index];
    const remedy = 'change its labels or the waves before it';
    if (waves[index]?.targets.length === 0) report(at, `no server is left for this wave: ${remedy}`);
    const name = waves[index]?.name;
    if (waves.findIndex((it) => it.name === name) < index) {
      report(own === undefined ? at : [...at, 'name'], `another wave has the name ${name}: use a different name`);
    }
    if (own === REMAINING)
      report([...at, 'name'], `the name ${REMAINING} is reserved for servers that no wave takes: rename this wave`);
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
