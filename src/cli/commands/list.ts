/** `belay list`: runs of the past and present. */
import { Command, Option } from 'commander';
import { printDocument } from '../../process/json-document.ts';
import { OUTCOMES, SCHEMA_VERSION, type Outcome } from '../../contract/run.ts';
import { given } from '../../contract/plain-object.ts';
import { LIMITS } from '../../request/validate-run-input.ts';
import { sumText } from '../../contract/results/tally.ts';
import { examples, json, summary } from '../options/add-run-options.ts';
import { listLine } from '../output/run-text.ts';
import { listMarkdown, sumOfRuns, writeSummary } from '../output/markdown-summary.ts';
import { durationWithin, parseId, parseLimit, sinceText } from '../options/parse-values.ts';
import { withBelay } from '../waiting/connection.ts';

interface ListOptions {
  site?: string;
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
    .description('list runs, the newest first')
    .option('--site <id>', 'that deploy this site', parseId)
    .option('--server <id>', 'that back this server up', parseId)
    .addOption(new Option('--outcome <outcome>', 'that ended so').choices(OUTCOMES))
    .option('--since <duration>', 'started at most so long ago', durationWithin(LIMITS.durationMs))
    .option('--limit <n>', `at most so many (default ${DEFAULT_LIMIT}, with --since ${MAX_LIMIT})`, parseLimit)
    .addOption(summary())
    .addOption(json())
    .addHelpText('after', examples('belay list --since 12h --outcome failed', 'belay list --site 34 --limit 5'))
    .action(list);
}

async function list({ site, server, outcome, since, limit, json: asJson, summary: file }: ListOptions): Promise<void> {
  // Whoever asks for a time wants all of it.
  const most = limit ?? (since === undefined ? DEFAULT_LIMIT : MAX_LIMIT);
  const filter = given({ siteId: site, serverId: server, outcome, since: sinceText(since) });
  const runs = await withBelay((belay) => belay.list({ ...filter, limit: most }));
  const sum = sumOfRuns(runs);
  await writeSummary(file, () => listMarkdown(runs));
  if (asJson === true) return printDocument({ schemaVersion: SCHEMA_VERSION, runs, sum, error: null });
  if (runs.length === 0) return void process.stdout.write('no runs\n');
  const more = runs.length === most ? '; there may be more: --limit' : '';
  process.stdout.write(`${runs.map(listLine).join('\n')}\n${runs.length} runs: ${sumText(sum)}${more}\n`);
}
