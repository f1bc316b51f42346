/** Checks the references between fleets, rollouts and schedules in belay.yaml. */
import { isSameTarget } from '../../contract/target.ts';
import { targetText } from '../../contract/target-text.ts';
import { lockIdOf } from '../../contract/ids.ts';
import { keyOf, buildInventory, targetsOn, type InventoryEntry } from '../../config/inventory.ts';
import { oneOf, type Path, type Report } from '../../config/file/config-issue.ts';
import { REMAINING, wavesOf } from './waves.ts';
import { MAX_TARGETS } from '../../request/limits.ts';
import { ownEntry } from '../../contract/plain-object.ts';
import { everFires, timesOf } from '../../request/calendar/cron-times.ts';
import { RUN_OPTION_KEYS, type OptionsInFile } from '../../config/file/run-options.ts';
import type { RolloutConfig, ScheduleConfig } from './config.ts';
import type { Configuration } from '../../config/file/file-schema.ts';

export function checkFleets(configuration: Configuration, report: Report): void {
  checkInventory(configuration, report);
  for (const [name, rollout] of Object.entries(configuration.rollouts ?? {})) {
    checkRollout(['rollouts', name], rollout, configuration, report);
  }
  for (const [name, schedule] of Object.entries(configuration.schedules ?? {})) {
    checkSchedule(['schedules', name], schedule, configuration, report);
  }
}

function checkInventory({ fleets = {}, inventory }: Configuration, report: Report): void {
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

function checkRollout(path: Path, rollout: RolloutConfig, { fleets = {} }: Configuration, report: Report): void {
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

function checkSchedule(path: Path, schedule: ScheduleConfig, configuration: Configuration, report: Report): void {
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

/** Options that have no effect on what the schedule starts. */
function checkOptions(path: Path, schedule: ScheduleConfig, report: Report): void {
  const { start } = schedule;
  const stray = RUN_OPTION_KEYS.filter((key) => (schedule as OptionsInFile)[key] !== undefined);
  for (const option of stray) {
    const at = [...path, option];
    if (start.rollout !== undefined) report(at, `a rollout has its own options: move it to rollouts.${start.rollout}`);
    if (start.backup !== undefined && option === 'deploy') report(at, 'this schedule deploys nothing: remove it');
    if (start.deploy !== undefined && option === 'backup') report(at, 'this schedule makes no backup: remove it');
  }
}

function checkSupersede(at: Path, schedule: ScheduleConfig, report: Report): void {
  const { start, supersede, overlap } = schedule;
  if (supersede !== true) return;
  if (start.run === undefined && start.deploy === undefined) {
    report(at, 'only a run that deploys replaces others: start run: or deploy:, or remove it');
  }
  if (overlap !== 'queue') report(at, 'a schedule that skips times has nothing to replace: write overlap: queue');
  if ((schedule as OptionsInFile).ifBusy === 'fail')
    report(at, 'it waits for the lock, and ifBusy is fail: remove one');
}

function checkServer(path: Path, start: ScheduleConfig['start'], { fleets }: Configuration, report: Report): void {
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

function checkDeployed(path: Path, start: ScheduleConfig['start'], { fleets }: Configuration, report: Report): void {
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
