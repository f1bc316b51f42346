/** What `belay list` does: it lists running and closed runs. */
import { printJson } from '../process/json-document.ts';
import { definedFields } from '../contract/plain-object.ts';
import { LIST_LIMITS } from './options.ts';
import { runTable } from './run-list.ts';
import { countRuns, listMarkdown, writeSummary } from './markdown-summary.ts';
import { sinceText } from './parse-values.ts';
import { withBelay } from './open-belay.ts';
import { counted, countsText } from '../contract/tally-text.ts';
import { SCHEMA_VERSION, type Outcome } from '../contract/names.ts';
import type { Target } from '../contract/target.ts';
import { columnsOf } from '../process/live-lines.ts';
import { print } from '../process/print.ts';

export interface ListOptions {
  targets?: Target[];
  server?: string[];
  outcome?: Outcome[];
  since?: number;
  limit?: number;
  json?: boolean;
  summary?: string;
}

export async function list(options: ListOptions): Promise<void> {
  const { targets, server, outcome, since, limit, json: asJson, summary: file } = options;
  // A caller who gives a time wants every run in it.
  const most = limit ?? (since === undefined ? LIST_LIMITS.alone : LIST_LIMITS.withSince);
  const filter = definedFields({ targets, serverId: server, outcome, since: sinceText(since) });
  const runs = await withBelay((belay) => belay.list({ ...filter, limit: most }));
  const counts = countRuns(runs);
  await writeSummary(file, () => listMarkdown(runs));
  if (asJson === true) return printJson({ schemaVersion: SCHEMA_VERSION, runs, counts, error: null });
  if (runs.length === 0) return print('no runs');
  const columns = columnsOf(process.stdout);
  const more = runs.length === most ? '; use a higher --limit to see more' : '';
  // Whoever looks at a terminal looks at its end.
  const inOrder = columns === null ? runs : runs.toReversed();
  print([...runTable(inOrder, columns), `${counted(runs.length, 'run')}: ${countsText(counts)}${more}`]);
}
