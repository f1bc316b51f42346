/** `belay list`: runs of the past and present. */
import { Command, Option } from 'commander';
import { printDocument } from '../document.ts';
import { OUTCOMES, SCHEMA_VERSION, type Outcome } from '../contract.ts';
import { LIMITS } from '../input.ts';
import { connect } from '../starter.ts';
import { examples, json } from './options.ts';
import { listLine } from './output.ts';
import { durationWithin, parseId, parseLimit } from './values.ts';

interface ListOptions {
  site?: string;
  server?: string;
  outcome?: Outcome;
  since?: number;
  limit?: number;
  json?: boolean;
}

export function listCommand(): Command {
  return new Command('list')
    .description('list runs, the newest first')
    .option('--site <id>', 'that deploy this site', parseId)
    .option('--server <id>', 'that back this server up', parseId)
    .addOption(new Option('--outcome <outcome>', 'that ended so').choices(OUTCOMES))
    .option('--since <duration>', 'started at most so long ago', durationWithin(LIMITS.durationMs))
    .option('--limit <n>', 'at most so many (default 20)', parseLimit)
    .addOption(json())
    .addHelpText('after', examples('belay list --since 12h --outcome failed', 'belay list --site 34 --limit 5'))
    .action(list);
}

async function list({ site, server, outcome, since, limit, json: asJson }: ListOptions): Promise<void> {
  const belay = await connect();
  try {
    const runs = await belay.list({
      ...(site === undefined ? {} : { siteId: site }),
      ...(server === undefined ? {} : { serverId: server }),
      ...(outcome === undefined ? {} : { outcome }),
      ...(since === undefined ? {} : { since: new Date(Date.now() - since).toISOString() }),
      ...(limit === undefined ? {} : { limit }),
    });
    if (asJson === true) printDocument({ schemaVersion: SCHEMA_VERSION, runs, error: null });
    else if (runs.length === 0) process.stdout.write('no runs\n');
    else process.stdout.write(`${runs.map(listLine).join('\n')}\n`);
  } finally {
    await belay.close();
  }
}
