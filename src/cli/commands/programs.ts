/** `belay worker`, `webhooks`, `codec-server` and `sandbox`: one program each. */
import { Command } from 'commander';
import { parsePort } from '../options/parse-values.ts';
import { WEBHOOK_PORT } from '../options/shared.ts';

export function programCommands(): Command[] {
  return [
    new Command('worker')
      .description('execute runs from Temporal and call the hosting service; only the worker needs the API token')
      .action(async () => (await import('../../worker.ts')).main()),
    new Command('webhooks')
      .description('receive webhooks from the hosting service and store them in Temporal')
      .option(
        '--host <address>',
        'address to listen on; any but loopback requires that every source is verified',
        '127.0.0.1',
      )
      .option('--port <port>', 'port to listen on; 0 picks a free port', parsePort, WEBHOOK_PORT)
      .option('--unverified', 'accept unverified deliveries, on loopback only; for testing webhooks')
      .action(async (options: { host: string; port: number; unverified?: boolean }) =>
        (await import('../../webhooks.ts')).main(options),
      ),
    new Command('codec-server')
      .description('decrypt payloads for the Temporal UI and CLI, with the keys in BELAY_CODEC_KEYS_FILE')
      .option('--host <address>', 'address to listen on; any but loopback requires --token-file', '127.0.0.1')
      .option('--port <port>', 'port to listen on; 0 picks a free port', parsePort, 4182)
      .option('--origin <origin>', 'the Temporal UI whose pages may call it, like https://temporal.example.com')
      .option('--token-file <path>', 'file with the token that callers send as Authorization: Bearer …')
      .option('--unauthenticated', 'ask for no token beyond loopback, behind a proxy that asks for credentials')
      .action(
        async (options: {
          host: string;
          port: number;
          origin?: string;
          tokenFile?: string;
          unauthenticated?: boolean;
        }) => (await import('../../codec-server.ts')).main(options),
      ),
    new Command('sandbox')
      .description('run only the emulator of the hosting service')
      .option('--host <address>', 'address to listen on; use 0.0.0.0 in a container', '127.0.0.1')
      .option('--port <port>', 'port to listen on; 0 picks a free port', parsePort, 4180)
      .action(async (options: { host: string; port: number }) => (await import('../../sandbox.ts')).main(options)),
  ];
}
