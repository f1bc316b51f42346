/** `belay list`: lists running and closed runs. */
import { Command, Option } from 'commander';
import { printJson } from '../../process/json-document.ts';
import { definedFields } from '../../contract/plain-object.ts';
import { LIMITS } from '../../request/limits.ts';
import { examples, json, summary } from '../options/shared.ts';
import { listLine } from '../output/run-text.ts';
import { countRuns, listMarkdown, runsText, writeSummary } from '../output/markdown-summary.ts';
import { durationWithin, parseId, parseLimit, sinceText } from '../options/parse-values.ts';
import { withBelay } from '../connection/open-belay.ts';
import { countsText } from '../../contract/wording/tally-text.ts';
import { OUTCOMES, SCHEMA_VERSION, type Outcome } from '../../contract/names.ts';
import { print } from '../../process/print.ts';

interface ListOptions {
  site?: string;
  app?: string;
  server?: string;
  outcome?: Outcome;
  since?: number;
  limit?: number;
  json?: boolean;
  summary?: string;
}

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 1_000;

export function listCommand(): Command {
  return new Command('list')
    .description('list runs, newest first')
    .option('--site <id>', 'only runs that deploy this site', parseId)
    .option('--app <id>', 'only runs that deploy this app', parseId)
    .option('--server <id>', 'only runs that back up this server', parseId)
    .addOption(new Option('--outcome <outcome>', 'only runs with this outcome').choices(OUTCOMES))
    .option('--since <duration>', 'only runs started within this time', durationWithin(LIMITS.durationMs))
    .option('--limit <n>', `maximum number of runs (default: ${DEFAULT_LIMIT}; with --since: ${MAX_LIMIT})`, parseLimit)
    .addOption(summary())
    .addOption(json())
    .addHelpText('after', examples('belay list --since 12h --outcome failed', 'belay list --site 34 --limit 5'))
    .action(list);
}

async function list(options: ListOptions): Promise<void> {
  const { site, app, server, outcome, since, limit, json: asJson, summary: file } = options;
  // A caller who gives a time wants every run in it.
  const most = limit ?? (since === undefined ? DEFAULT_LIMIT : MAX_LIMIT);
  const filter = definedFields({ siteId: site, appId: app, serverId: server, outcome, since: sinceText(since) });
  const runs = await withBelay((belay) => belay.list({ ...filter, limit: most }));
  const counts = countRuns(runs);
  await writeSummary(file, () => listMarkdown(runs));
  if (asJson === true) return printJson({ schemaVersion: SCHEMA_VERSION, runs, counts, error: null });
  if (runs.length === 0) return print('no runs');
  const more = runs.length === most ? '; use a higher --limit to see more' : '';
  print([...runs.map(listLine), `${runsText(runs)}: ${countsText(counts)}${more}`]);
}
