/** Checks the times and scopes of freezes and windows in belay.yaml. */
import { cronTimes, everFires } from '../../request/calendar/cron-times.ts';
import { durationText } from '../../contract/duration.ts';
import { oneOf, type Path, type Report } from '../../config/file/config-issue.ts';
import type { ScopeConfig } from './config.ts';
import type { Configuration } from '../../config/file/file-schema.ts';
import { overlapsItself } from '../../request/calendar/local-spans.ts';

export function checkFreezes(configuration: Configuration, report: Report): void {
  const { freezes = {}, windows = {} } = configuration;
  for (const [name, { from, to, cron, lasts, ...freeze }] of Object.entries(freezes)) {
    const path = ['freezes', name];
    checkScope([...path, 'for'], freeze.for, configuration, report);
    if (cron !== undefined && lasts !== undefined) checkRecurrence(path, cron, lasts, report);
    if (from !== undefined && to !== undefined && to <= from) {
      report([...path, 'to'], `it is not after from: ${from}: write a later time`);
    }
  }
  for (const [name, { cron, lasts, margin = 0, ...window }] of Object.entries(windows)) {
    const path = ['windows', name];
    if (Object.hasOwn(freezes, name)) report(path, 'a freeze has the same name: rename one of them');
    checkScope([...path, 'for'], window.for, configuration, report);
    checkRecurrence(path, cron, lasts, report);
    if (margin >= lasts) report([...path, 'margin'], `it leaves nothing of the ${durationText(lasts)}: shorten it`);
  }
}

function checkRecurrence(path: Path, cron: string, lastsMs: number, report: Report): void {
  const times = cronTimes(cron);
  if (!times.some(everFires)) report([...path, 'cron'], 'it never begins: no given month has that day');
  else if (overlapsItself({ times, lastsMs })) {
    report([...path, 'lasts'], 'it begins again before it ends, so it never ends: shorten it');
  }
}

/** Servers, sites and apps need no fleet: a scope that names them by their ids fits them all the same. */
export function checkScope(
  path: Path,
  scope: ScopeConfig | undefined,
  { fleets = {} }: Configuration,
  report: Report,
): void {
  for (const [index, fleet] of (scope?.fleets ?? []).entries()) {
    if (Object.hasOwn(fleets, fleet)) continue;
    report([...path, 'fleets', index], `there is no fleet ${fleet}: ${oneOf(fleets, 'fleets')}`);
  }
  const servers = Object.values(fleets).flatMap((fleet) => [...fleet.servers.values()]);
  for (const [label, value] of Object.entries(scope?.labels ?? {})) {
    if (servers.some(({ labels = {} }) => labels[label] === value)) continue;
    report([...path, 'labels', label], `no server has the label ${label}: ${value}: correct it, or label a server`);
  }
}
