/** What the fleets, rollouts and schedules of belay.yaml say of each other. */
import type { z } from 'zod';
import { keyOf, registerOf, type Place } from '../fleets/register.ts';
import { wavesOf } from '../fleets/waves.ts';
import { MAX_SITES } from '../input.ts';
import { everFires, timesOf } from '../schedules/times.ts';
import type { FleetConfig, RolloutConfig, ScheduleConfig } from './fleet-schema.ts';

interface Parts {
  fleets?: Record<string, FleetConfig> | undefined;
  rollouts?: Record<string, RolloutConfig> | undefined;
  schedules?: Record<string, ScheduleConfig> | undefined;
  notify?: { heartbeats?: Record<string, unknown> | undefined } | undefined;
}

type Context = z.core.$RefinementCtx;

export function checkFleets(parts: Parts, context: Context): void {
  const wrong = (path: (string | number)[], message: string) => context.addIssue({ code: 'custom', path, message });
  checkRegister(parts, wrong);
  for (const [name, rollout] of Object.entries(parts.rollouts ?? {})) {
    checkRollout(['rollouts', name], rollout, parts, wrong);
  }
  for (const [name, schedule] of Object.entries(parts.schedules ?? {})) {
    checkSchedule(['schedules', name], schedule, parts, wrong);
  }
}

type Wrong = (path: (string | number)[], message: string) => void;

function checkRegister({ fleets = {} }: Parts, wrong: Wrong): void {
  const servers = new Map<string, Place>();
  const sites = new Map<string, Place>();
  for (const [fleet, config] of Object.entries(fleets)) {
    let count = 0;
    for (const [serverId, { sites: siteIds = [] }] of Object.entries(config.servers)) {
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

function checkRollout(path: string[], rollout: RolloutConfig, { fleets = {} }: Parts, wrong: Wrong): void {
  const fleet = fleets[rollout.fleet];
  if (fleet === undefined) {
    return wrong([...path, 'fleet'], `there is no fleet ${rollout.fleet}: write one of ${namesIn(fleets)}`);
  }
  const waves = wavesOf(fleet, rollout.waves);
  for (const [index] of (rollout.waves ?? []).entries()) {
    const remedy = 'change its labels, or the waves before it';
    if (waves[index]?.targets.length === 0) wrong([...path, 'waves', index], `no server is left for it: ${remedy}`);
    const name = waves[index]?.name;
    if (waves.findIndex((it) => it.name === name) < index) {
      wrong([...path, 'waves', index], `another wave is called ${name}, too: give it a name of its own`);
    }
  }
}

function checkSchedule(path: string[], schedule: ScheduleConfig, parts: Parts, wrong: Wrong): void {
  const { start, calendar, heartbeat } = schedule;
  const { rollouts = {} } = parts;
  const heartbeats = parts.notify?.heartbeats;
  if (heartbeat !== undefined && heartbeats !== undefined && !Object.hasOwn(heartbeats, heartbeat)) {
    const known = namesIn(heartbeats);
    wrong([...path, 'heartbeat'], `notify.heartbeats has no ${heartbeat}: write one of ${known}, or add it there`);
  }
  if (!timesOf(schedule).some(everFires)) {
    wrong([...path, calendar === undefined ? 'cron' : 'calendar'], 'it never fires: no such month has such a day');
  }
  if (start.rollout === undefined) return checkStart(path, schedule, parts, wrong);
  if (rollouts[start.rollout] === undefined) {
    const known = namesIn(rollouts);
    wrong([...path, 'start', 'rollout'], `there is no rollout ${start.rollout}: write one of ${known}`);
  }
  const options = ['backup', 'deploy', 'ifBusy', 'busyTimeout', 'keepGoing'] as const;
  const stray = options.find((option) => schedule[option] !== undefined);
  if (stray !== undefined) wrong([...path, stray], `a rollout has its own: write it to rollouts.${start.rollout}`);
}

function checkStart(path: string[], { start }: ScheduleConfig, { fleets }: Parts, wrong: Wrong): void {
  const { servers, sites } = registerOf(fleets);
  const remedy = 'add it under fleets';
  for (const kind of ['run', 'backup'] as const) {
    const serverId = start[kind];
    if (serverId === undefined) continue;
    const server = servers.get(serverId);
    if (server === undefined) wrong([...path, 'start', kind], `server ${serverId} is in no fleet: ${remedy}`);
    if (kind === 'run' && server?.siteIds.length === 0) {
      wrong([...path, 'start', kind], `server ${serverId} has no sites in ${keyOf(server)}: write backup: instead`);
    }
  }
  const places = (start.deploy ?? []).map((siteId) => sites.get(siteId));
  for (const [index, siteId] of (start.deploy ?? []).entries()) {
    const place = places[index];
    if (place === undefined) wrong([...path, 'start', 'deploy'], `site ${siteId} is in no fleet: ${remedy}`);
    else if (place.fleet !== places[0]?.fleet) {
      wrong([...path, 'start', 'deploy'], `site ${siteId} is of fleet ${place.fleet}, the first of another: one fleet`);
    }
    if (start.deploy?.indexOf(siteId) !== index)
      wrong([...path, 'start', 'deploy'], `site ${siteId} stands there twice`);
  }
}

const namesIn = (record: Record<string, unknown>): string =>
  Object.keys(record).join(', ') || 'none: there is none yet';
