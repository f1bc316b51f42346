/** `belay dev`. */
import { Command } from 'commander';
import type { DevOptions } from './dev-actions.ts';
import { parsePort } from './parse-values.ts';
import { BOARD_PORT, examples, json, WEBHOOK_PORT } from './options.ts';

export function devCommand(): Command {
  return new Command('dev')
    .description(
      'run Temporal, a worker, a webhook receiver, the board and, unless BELAY_API_URL is set, the sandbox; not for production',
    )
    .option('--temporal-port <port>', 'port of the embedded Temporal server; 0 picks a free port', parsePort, 7233)
    .option('--ui-port <port>', 'port of its UI; 0 picks a free port', parsePort, 8233)
    .option(
      '--webhook-port <port>',
      `port of the webhook receiver; 0 picks a free port (default: ${WEBHOOK_PORT}, or a free port if it is in use)`,
      parsePort,
    )
    .option(
      '--board-port <port>',
      `port of the board; 0 picks a free port (default: ${BOARD_PORT}, or a free port if it is in use)`,
      parsePort,
    )
    .addOption(json())
    .addHelpText('after', examples('belay dev', 'belay dev --temporal-port 0 --ui-port 0 --webhook-port 0 --json'))
    .action(async (options: DevOptions) => (await import('./dev-actions.ts')).dev(options));
}
