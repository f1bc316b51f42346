/** `belay dev`: everything on one machine, to try Belay out and to work on it. */
import { Command } from 'commander';
import { printDocument } from '../../process/json-document.ts';
import { homeFolder, isLoopback, namesTemporal, serviceConfig, taskQueue } from '../../config/environment/environment.ts';
import { readConfiguration } from '../../config/load.ts';
import { claimHome, removeNote, writeNote } from '../../dev/claim-home.ts';
import { choosePort } from '../../dev/choose-port.ts';
import type { Stack, StackOptions } from '../../dev/stack.ts';
import { BelayError } from '../../contract/results/belay-error.ts';
import { findTemporal, type TemporalPlace } from '../../config/temporal/find-temporal.ts';
import { examples, json } from '../options/add-run-options.ts';
import { untilStopped } from '../../process/run-until-signal.ts';
import { parsePort } from '../options/parse-values.ts';

interface DevOptions {
  temporalPort: number;
  uiPort: number;
  webhookPort?: number;
  json?: boolean;
}

const RETENTION_DAYS = 30;
export const WEBHOOK_PORT = 4181;

export function devCommand(): Command {
  return new Command('dev')
    .description(
      'run Temporal, a worker, a webhook receiver and, unless BELAY_API_URL is set, the sandbox here; not for production',
    )
    .option('--temporal-port <port>', 'of the embedded Temporal; 0 = any free one', parsePort, 7233)
    .option('--ui-port <port>', 'of its UI; 0 = any free one', parsePort, 8233)
    .option(
      '--webhook-port <port>',
      `of the webhook receiver; 0 = any free one (default ${WEBHOOK_PORT}, or a free one where that is taken)`,
      parsePort,
    )
    .addOption(json())
    .addHelpText('after', examples('belay dev', 'belay dev --temporal-port 0 --ui-port 0 --webhook-port 0 --json'))
    .action(dev);
}

async function dev(options: DevOptions): Promise<void> {
  const home = homeFolder();
  const service = await serviceConfig();
  const configuration = await readConfiguration();
  const temporal = namesTemporal() ? findTemporal() : null;
  if (service === null && temporal !== null) refuseFarSandbox(temporal);
  const running = temporal === null ? await claimHome(home) : null;
  if (running !== null) {
    const remedy = 'stop it first, or set BELAY_HOME to another folder';
    throw new BelayError('Usage', `belay dev runs already in ${home} (process ${running.pid}): ${remedy}`);
  }
  try {
    await runStack(options, { home, service, temporal, configuration });
  } finally {
    if (temporal === null) await removeNote(home);
  }
}

async function runStack(
  options: DevOptions,
  { home, ...parts }: { home: string } & Pick<StackOptions, 'service' | 'temporal' | 'configuration'>,
): Promise<void> {
  // Only here: it loads the worker, which the other commands have no use for.
  const { startStack } = await import('../../dev/stack.ts');
  const { webhookPort: asked } = options;
  const webhookPort = asked === undefined ? { likely: WEBHOOK_PORT } : await choosePort('--webhook-port', asked);
  const stack = await startStack({
    folder: home,
    ...parts,
    server: { port: options.temporalPort, uiPort: options.uiPort, keepsData: true, retentionDays: RETENTION_DAYS },
    taskQueue: taskQueue(),
    webhookPort,
  });
  try {
    const { address } = stack.temporal.connectionOptions;
    if (parts.temporal === null)
      await writeNote(home, { pid: process.pid, temporal: address, ui: stack.temporal.uiUrl });
    sayReady(stack, options.json === true);
    await untilStopped(stack.broken);
  } finally {
    await stack.stop();
  }
}

/** Runs of a team must not end up at an emulator. */
function refuseFarSandbox({ connectionOptions: { address } }: TemporalPlace): void {
  if (isLoopback(address.replace(/:\d+$/, ''))) return;
  const remedy = 'set BELAY_API_URL to the hosting service, or unset TEMPORAL_ADDRESS and TEMPORAL_PROFILE';
  throw new BelayError('Usage', `the sandbox doesn't go with the Temporal at ${address}: ${remedy}`);
}

function sayReady({ temporal, serviceUrl, sandbox, webhooks }: Stack, asJson: boolean): void {
  const address = temporal.connectionOptions.address;
  const webhooksUrl = webhooks?.url ?? null;
  if (asJson)
    return printDocument({ temporal: address, ui: temporal.uiUrl, webhooks: webhooksUrl, service: serviceUrl });
  const ui = temporal.uiUrl === null ? '' : `, its UI ${temporal.uiUrl}`;
  const service = `service ${serviceUrl}${sandbox === null ? '' : ' (the sandbox)'}`;
  process.stdout.write(`ready: Temporal ${address}${ui}, webhooks ${webhooksUrl}, ${service}; not for production\n`);
}
