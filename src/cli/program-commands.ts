/**
 * The commands that run until they are stopped: `belay worker`, `webhooks`, `board`, `codec-server`, `sandbox` and `dev`.
 * `belay demo` does so only with `--keep`.
 */
import { Command } from 'commander';
import { parsePort } from './parse-values.ts';
import { collectOf, RepeatableOption, BOARD_PORT, examples, WEBHOOK_PORT, json } from './options.ts';
import type { DevOptions, DemoOptions } from './dev-actions.ts';
import type { runBoard } from '../board.ts';
import type { runCodecServer } from '../codec-server.ts';
import type { runSandbox } from '../sandbox.ts';
import type { runWebhooks } from '../webhooks.ts';

type OptionsOf<P extends (options: never) => Promise<void>> = Parameters<P>[0];

/** @param beyond what else is true of the address */
const listening = (command: Command, beyond: string, port: number): Command =>
  command
    .option('--host <address>', `address to listen on; ${beyond}`, '127.0.0.1')
    .option('--port <port>', 'port to listen on; 0 picks a free port', parsePort, port);

export function programCommands(): Command[] {
  const webhooks = new Command('webhooks')
    .summary('receive webhooks from the hosting service')
    .description('receive webhooks from the hosting service and store them in Temporal');
  const board = new Command('board')
    .summary('show the fleet on a web page, read-only')
    .description('show the fleet on a page: what runs, how the last runs ended, and what needs attention; read-only');
  const codecServer = new Command('codec-server')
    .summary('decrypt payloads for the Temporal UI and CLI')
    .description('decrypt payloads for the Temporal UI and CLI, with the keys in BELAY_CODEC_KEYS_FILE');
  const sandbox = new Command('sandbox')
    .summary('emulate the hosting service')
    .description('run only the emulator of the hosting service');
  return [
    new Command('worker')
      .summary('execute runs; only the worker needs the API token')
      .description('execute runs from Temporal and call the hosting service; only the worker needs the API token')
      .action(async () => (await import('../worker.ts')).runWorker()),
    listening(webhooks, 'beyond loopback, every source must be verified', WEBHOOK_PORT)
      .option('--unverified', 'accept unverified deliveries, on loopback only; for testing webhooks')
      .action(async (options: OptionsOf<typeof runWebhooks>) => (await import('../webhooks.ts')).runWebhooks(options)),
    listening(board, 'beyond loopback, give --secret-file or --identity-header', BOARD_PORT)
      .option('--secret-file <path>', 'file with the secret that programs send as bearer, and browsers as password')
      .option('--identity-header <name>', 'header in which a trusted proxy names the user that it let through')
      .addOption(
        new RepeatableOption(
          '--trusted-proxy <address>',
          'address or network of that proxy, like 10.0.0.5 or 10.0.0.0/24 (repeatable)',
          collectOf(String),
        ),
      )
      .option('--receipts <folder>', 'folder of kept receipts, for verdicts that Temporal has deleted')
      .addHelpText('after', examples('belay board', 'belay board --host 0.0.0.0 --secret-file /run/secrets/board'))
      .action(async (options: OptionsOf<typeof runBoard>) => (await import('../board.ts')).runBoard(options)),
    listening(codecServer, 'beyond loopback, give --token-file or --unauthenticated', 4182)
      .option('--origin <origin>', 'the Temporal UI whose pages may call it, like https://temporal.example.com')
      .option('--token-file <path>', 'file with the token that callers send as Authorization: Bearer …')
      .option('--unauthenticated', 'ask for no token beyond loopback; only behind a proxy that asks for credentials')
      .action(async (options: OptionsOf<typeof runCodecServer>) =>
        (await import('../codec-server.ts')).runCodecServer(options),
      ),
    listening(sandbox, 'use 0.0.0.0 in a container', 4180).action(async (options: OptionsOf<typeof runSandbox>) =>
      (await import('../sandbox.ts')).runSandbox(options),
    ),
  ];
}

export function devCommand(): Command {
  return new Command('dev')
    .summary('run everything on one machine, for development')
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

export function demoCommand(): Command {
  return new Command('demo')
    .summary('show one run from start to end, on this machine')
    .description('run one backup and one deployment against a temporary Temporal server, worker and sandbox')
    .option('--keep', 'keep everything running afterwards, to open the run in the Temporal UI')
    .addOption(json())
    .addHelpText('after', examples('belay demo', 'belay demo --keep'))
    .action(async (options: DemoOptions) => (await import('./dev-actions.ts')).demo(options));
}
