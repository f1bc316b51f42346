/** What the fleets, rollouts and schedules of belay.yaml say of each other. */
import { keyOf, registerOf, type Place } from './inventory.ts';
import { REST, wavesOf } from './waves.ts';
import { MAX_SITES } from '../../request/validate-run-input.ts';
import { entry } from '../../contract/plain-object.ts';
import { everFires, timesOf } from '../../request/calendar/cron-times.ts';
import type { RolloutConfig, ScheduleConfig } from '../file/fleet-schema.ts';
import type { Configuration } from '../file/file-schema.ts';

export interface Mistake {
  path: (string | number)[];
  /** With the remedy. */
  message: string;
}

type Path = Mistake['path'];
type Wrong = (path: Path, message: string) => void;

/** @returns all there are, in the order of the file */
export function fleetMistakes(configuration: Configuration): Mistake[] {
  const mistakes: Mistake[] = [];
  const wrong: Wrong = (path, message) => void mistakes.push({ path, message });
  checkRegister(configuration, wrong);
  for (const [name, rollout] of Object.entries(configuration.rollouts ?? {})) {
    checkRollout(['rollouts', name], rollout, configuration, wrong);
  }
  for (const [name, schedule] of Object.entries(configuration.schedules ?? {})) {
    checkSchedule(['schedules', name], schedule, configuration, wrong);
  }
  return mistakes;
}

function checkRegister({ fleets = {} }: Configuration, wrong: Wrong): void {
  const servers = new Map<string, Place>();
  const sites = new Map<string, Place>();
  for (const [fleet, config] of Object.entries(fleets)) {
    let count = 0;
    for (const [serverId, { sites: siteIds = [] }] of config.servers) {
      const path = ['fleets', fleet, 'servers', serverId];
      const before = servers.get(serverId);
      if (before !== undefined) wrong(path, `server ${serverId} is in ${keyOf(before)} already: keep one, use labels`);
      servers.set(serverId, { fleet, serverId });
      for (const [index, siteId] of siteIds.entries()) {
        const place = sites.get(siteId);
        const there = [...path, 'sites', index];
        if (place !== undefined) wrong(there, `site ${siteId} is under ${keyOf(place)} already: a site has one server`);
        sites.set(siteId, { fleet, serverId });
      }
      count += Math.max(1, siteIds.length);
    }
    if (count > MAX_SITES) wrong(['fleets', fleet], `it has over ${MAX_SITES} sites: make two fleets of it`);
  }
}

function checkRollout(path: Path, rollout: RolloutConfig, { fleets = {} }: Configuration, wrong: Wrong): void {
  const fleet = entry(fleets, rollout.fleet);
  if (fleet === undefined) {
    return wrong([...path, 'fleet'], `there is no fleet ${rollout.fleet}: ${oneOf(fleets, 'fleets')}`);
  }
  const waves = wavesOf(fleet, rollout.waves);
  for (const [index, { name: own }] of (rollout.waves ?? []).entries()) {
    const there = [...path, 'waves', index];
    const remedy = 'change its labels, or the waves before it';
    if (waves[index]?.targets.length === 0) wrong(there, `no server is left for it: ${remedy}`);
    const name = waves[index]?.name;
    if (waves.findIndex((it) => it.name === name) < index) {
      wrong(
        own === undefined ? there : [...there, 'name'],
        `another wave is called ${name}, too: give it a name of its own`,
      );
    }
    if (own === REST) wrong([...there, 'name'], `${REST} is what servers are called that no wave takes: rename it`);
  }
}

function checkSchedule(path: Path, schedule: ScheduleConfig, configuration: Configuration, wrong: Wrong): void {
  const { start, calendar, heartbeat } = schedule;
  const { rollouts = {}, notify } = configuration;
  const heartbeats = notify?.heartbeats;
  if (heartbeat !== undefined && heartbeats !== undefined && !Object.hasOwn(heartbeats, heartbeat)) {
    const remedy = oneOf(heartbeats, 'notify.heartbeats');
    wrong([...path, 'heartbeat'], `there is no heartbeat ${heartbeat}: ${remedy}`);
  }
  if (!timesOf(schedule).some(everFires)) {
    wrong([...path, calendar === undefined ? 'cron' : 'calendar'], 'it never fires: no such month has such a day');
  }
  if (start.rollout !== undefined && entry(rollouts, start.rollout) === undefined) {
    wrong([...path, 'start', 'rollout'], `there is no rollout ${start.rollout}: ${oneOf(rollouts, 'rollouts')}`);
  }
  checkOptions(path, schedule, wrong);
  checkServer(path, start, configuration, wrong);
  checkSites(path, start, configuration, wrong);
}

/** Options that mean nothing where they stand. */
function checkOptions(path: Path, schedule: ScheduleConfig, wrong: Wrong): void {
  const { start } = schedule;
  const stray = (['backup', 'deploy', 'ifBusy', 'busyTimeout', 'keepGoing'] as const).filter(
    (option) => schedule[option] !== undefined,
  );
  for (const option of stray) {
    const there = [...path, option];
    if (start.rollout !== undefined) wrong(there, `a rollout has its own: write it to rollouts.${start.rollout}`);
    if (start.backup !== undefined && option === 'deploy') wrong(there, 'a backup deploys nothing: leave it out');
    if (start.deploy !== undefined && option === 'backup') wrong(there, 'this makes no backup: leave it out');
  }
}

function checkServer(path: Path, start: ScheduleConfig['start'], { fleets }: Configuration, wrong: Wrong): void {
  const { servers } = registerOf(fleets);
  for (const kind of ['run', 'backup'] as const) {
    const serverId = start[kind];
    if (serverId === undefined) continue;
    const there = [...path, 'start', kind];
    const server = servers.get(serverId);
    if (server === undefined) wrong(there, `server ${serverId} is in no fleet: add it under fleets`);
    if (kind === 'run' && server?.siteIds.length === 0) {
      wrong(there, `server ${serverId} has no sites in ${keyOf(server)}: write backup: instead`);
    }
  }
}

function checkSites(path: Path, start: ScheduleConfig['start'], { fleets }: Configuration, wrong: Wrong): void {
  const { sites } = registerOf(fleets);
  const siteIds = start.deploy ?? [];
  const fleet = sites.get(siteIds[0] ?? '')?.fleet;
  for (const [index, siteId] of siteIds.entries()) {
    const there = [...path, 'start', 'deploy', index];
    const place = sites.get(siteId);
    if (place === undefined) wrong(there, `site ${siteId} is in no fleet: add it under fleets`);
    else if (fleet !== undefined && place.fleet !== fleet) {
      wrong(there, `site ${siteId} is of fleet ${place.fleet}, not ${fleet}: make a schedule for each fleet`);
    }
    if (siteIds.indexOf(siteId) < index) wrong(there, `${siteId} stands there twice: name it once`);
  }
}

function oneOf(record: Record<string, unknown>, key: string): string {
  const known = Object.keys(record);
  return known.length === 0 ? `add it under ${key}` : `write one of ${known.join(', ')}, or add it under ${key}`;
}
