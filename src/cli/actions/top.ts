/** What `belay top` does: it shows what is in flight, or the status of sites and apps at the service. */
import { taskQueue } from '../../config/environment/environment.ts';
import { findTemporal } from '../../config/temporal/find-temporal.ts';
import { BelayError } from '../../contract/results/belay-error.ts';
import type { Target } from '../../contract/target.ts';
import { printJson } from '../../process/json-document.ts';
import { print } from '../../process/print.ts';
import { withBelay } from '../connection/open-belay.ts';
import { TOP_INTERVAL_MS, TOP_LIMIT } from '../options/shared.ts';
import { EXIT } from '../../contract/results/exit-codes.ts';
import type { LiveLine } from '../../process/live-lines.ts';
import { ownTerminal } from '../top/until-quit.ts';

export interface TopOptions {
  targets?: Target[];
  /** Milliseconds. */
  interval?: number;
  limit?: number;
  json?: boolean;
}

export async function top(options: TopOptions): Promise<void> {
  const { targets = [], interval } = options;
  if (targets.length === 0 && interval !== undefined)
    throw new BelayError('Usage', '--interval is for --site and --app: without them, Belay asks as often as needed');
  process.exitCode = targets.length === 0 ? await inFlight(options) : await atService(targets, options);
}

async function inFlight({ limit = TOP_LIMIT, json }: TopOptions): Promise<number> {
  const { overviewDocument, overviewLines, showOverview } = await import('../top/show-in-flight.ts');
  return withBelay(async (belay) => {
    const overviews = belay.overview({ limit });
    const terminal = json === true ? null : ownTerminal();
    if (terminal !== null) return showOverview(overviews, whereTemporalIs(), terminal);
    const overview = await overviews.whole();
    if (json === true) printJson(overviewDocument(overview));
    else printLines(overviewLines(overview));
    return EXIT.completed;
  });
}

function whereTemporalIs(): string {
  const { connectionOptions, namespace } = findTemporal();
  return `${connectionOptions.address}, namespace ${namespace}, task queue ${taskQueue()}`;
}

async function atService(targets: Target[], { interval = TOP_INTERVAL_MS, json }: TopOptions): Promise<number> {
  const [{ configuredReader }, { showTargets, targetsDocument, targetsTable }] = await Promise.all([
    import('../top/target-reader.ts'),
    import('../top/show-targets.ts'),
  ]);
  const reader = await configuredReader(targets);
  const terminal = json === true ? null : ownTerminal();
  if (terminal !== null) return showTargets(reader, targets, interval, terminal);
  const readings = await reader.readAll(targets);
  if (json === true) printJson(targetsDocument(readings));
  else printLines(targetsTable(readings, Date.now(), null));
  return EXIT.completed;
}

const printLines = (lines: readonly LiveLine[]): void =>
  print(lines.map((line) => (typeof line === 'string' ? line : line.paint(line.text))));
