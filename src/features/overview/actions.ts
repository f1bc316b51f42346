/** `belay top` shows what is in flight, or the status of sites and apps at the service. */
import { taskQueue } from '../../config/environment/environment.ts';
import { requireConfiguration } from '../../config/load.ts';
import { buildInventory } from '../../config/inventory.ts';
import { findTemporal } from '../../config/find-temporal.ts';
import { BelayError, EXIT } from '../../contract/errors.ts';
import { type Target, targetLabel } from '../../contract/target.ts';
import { plainText } from '../../contract/safe-text.ts';
import { printDocument } from '../../process/json-document.ts';
import { print } from '../../process/print.ts';
import { noteUnreadable } from '../../cli/run-text.ts';
import { withBelay } from '../../cli/open-belay.ts';
import { TOP_INTERVAL_MS, TOP_LIMIT } from './commands.ts';
import type { LiveLine } from '../../process/live-lines.ts';
import { ownTerminal, showUntilQuit, type Terminal } from './screen.ts';
import colors from 'picocolors';
import { named } from '../../contract/results.ts';
import { durationText } from '../../contract/duration.ts';
import { ageText, overviewDocument, overviewLines, recentlyEnded, showOverview } from './show-in-flight.ts';
import { screenLines, tableLines, type Column } from '../../cli/table.ts';
import type { Reading, TargetReader } from '../../cli/target-reader.ts';

export interface TopOptions {
  targets?: Target[];
  /** Milliseconds. */
  interval?: number;
  limit?: number;
  /** The name of a fleet in belay.yaml. */
  fleet?: string;
  /** Milliseconds. */
  recent?: number;
  json?: boolean;
}

export async function top(options: TopOptions): Promise<void> {
  const { interval, fleet } = options;
  const targets = fleet === undefined ? (options.targets ?? []) : await targetsOfFleet(fleet);
  if (targets.length === 0 && interval !== undefined)
    throw new BelayError(
      'Usage',
      '--interval is for --site, --app and --fleet: without them, Belay asks as often as needed',
    );
  process.exitCode = targets.length === 0 ? await inFlight(options) : await atService(targets, options);
}

/** Keeps the order of the file. */
async function targetsOfFleet(name: string): Promise<Target[]> {
  const { fleets = {} } = await requireConfiguration();
  const { servers } = buildInventory(fleets);
  const targets = [...servers.values()].filter(({ fleet }) => fleet === name).flatMap((it) => it.targets);
  if (targets.length > 0) return targets;
  const problem = Object.hasOwn(fleets, name) ? 'has no sites or apps' : 'is not in belay.yaml';
  throw new BelayError(
    'Usage',
    `the fleet ${plainText(name)} ${problem}: fleets: lists ${listed(Object.keys(fleets))}`,
  );
}

const listed = (names: readonly string[]): string =>
  names.length === 0 ? 'none' : names.map((it) => plainText(it)).join(', ');

function inFlight({ limit = TOP_LIMIT, recent: recentMs, json }: TopOptions): Promise<number> {
  return withBelay(async (belay) => {
    const overviews = belay.overview({ limit });
    const terminal = json === true ? null : ownTerminal();
    const recent = recentMs === undefined ? null : await recentlyEnded(belay, recentMs, limit);
    if (terminal !== null) return showOverview(overviews, whereTemporalIs(), terminal, recent);
    const overview = await overviews.whole();
    const shown = [...overview.inFlight.map(({ status }) => status), ...(recent?.now() ?? [])];
    noteUnreadable(shown.map(({ result }) => result));
    if (json === true) printDocument(overviewDocument(overview, recent?.now()));
    else printLines(overviewLines(overview, recent?.now()));
    return EXIT.completed;
  });
}

function whereTemporalIs(): string {
  const { connectionOptions, namespace } = findTemporal();
  return `${connectionOptions.address}, namespace ${namespace}, task queue ${taskQueue()}`;
}

/** A fleet has many targets, so all of them together are read at most twice a second. */
const FLEET_READ_MS = 500;

async function atService(targets: Target[], { fleet, json, ...options }: TopOptions): Promise<number> {
  const usualMs = fleet === undefined ? TOP_INTERVAL_MS : Math.max(TOP_INTERVAL_MS, targets.length * FLEET_READ_MS);
  const { interval = usualMs } = options;
  const { configuredReader } = await import('../../cli/target-reader.ts');
  const reader = await configuredReader(targets);
  const terminal = json === true ? null : ownTerminal();
  if (terminal !== null) return showTargets(reader, targets, interval, terminal);
  const readings = await reader.readAll(targets);
  if (json === true) printDocument(targetsDocument(readings));
  else printLines(targetsTable(readings, Date.now(), Infinity));
  return EXIT.completed;
}

const printLines = (lines: readonly LiveLine[]): void =>
  print(lines.map((line) => (typeof line === 'string' ? line : line.paint(line.text))));

/* `belay top --site`: the status of sites and apps at the service, as one snapshot, or until the user quits. */

const COLUMNS: Column[] = [
  { title: 'TARGET', cut: { to: 12, turn: 3 } },
  { title: 'STATUS', cut: { to: 12, turn: 2 } },
  { title: 'FOR', drop: 2 },
  { title: 'READ', drop: 1 },
  { title: 'PROBLEM', cut: { to: 24, turn: 1 }, wants: 24 },
];

/** The titles, then one line for each. @param width of the screen */
export function targetsTable(readings: readonly Reading[], nowMs: number, width: number): LiveLine[] {
  const rows = readings.map(({ target, status, since, readAt, problem }) =>
    [
      targetLabel(target),
      status ?? '–',
      // A first look does not tell how long the service has shown this.
      since === readAt ? '–' : ageText(since, nowMs),
      readAt === null ? '–' : `${ageText(readAt, nowMs)} ago`,
      problem ?? '',
    ].map((cell) => plainText(cell)),
  );
  const [titles = '', ...lines] = tableLines(COLUMNS, rows, width);
  return [
    { text: titles, paint: colors.bold },
    ...readings.map((reading, index) => ({ text: lines[index] ?? '', paint: paintOf(reading) })),
  ];
}

function paintOf({ state, problem }: Reading): (text: string) => string {
  if (problem !== null || state === 'failed') return colors.red;
  return state === 'completed' ? colors.green : String;
}

export function targetsDocument(readings: readonly Reading[]): object {
  const targets = readings.map(({ target, status, state, readAt, problem }) => ({
    ...named(target),
    status,
    state,
    readAt,
    problem,
  }));
  return { targets };
}

/** @returns the exit code */
export async function showTargets(
  reader: TargetReader,
  targets: readonly Target[],
  intervalMs: number,
  terminal: Terminal,
): Promise<number> {
  const following = reader.follow(targets, intervalMs);
  const title = `Latest deployments at ${reader.baseUrl}, read every ${durationText(intervalMs)}. Press q to quit.`;
  try {
    return await showUntilQuit(
      ({ rows, columns }) => screenLines([title], targetsTable(following.readings(), Date.now(), columns), rows),
      terminal,
    );
  } finally {
    following.stop();
  }
}
