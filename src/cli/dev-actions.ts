/** What `belay dev` does: it runs everything on one machine, to try Belay out and to develop it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { printJson } from '../process/json-document.ts';
import { homeFolder, isTemporalConfigured, serviceConfig, taskQueue } from '../config/environment/environment.ts';
import { readConfiguration } from '../config/load.ts';
import { claimHome, removeDevServerRecord, startStack, writeDevServerRecord } from '../dev/stack.ts';
import { choosePort } from '../dev/ports.ts';
import type { Stack, StackOptions } from '../dev/stack.ts';
import { startBoard, type BoardServerOptions } from '../features/board/server.ts';
import { BelayError } from '../contract/errors.ts';
import type { DevServerRecord } from '../config/dev-server-record.ts';
import { findTemporal, type TemporalEndpoint } from '../config/find-temporal.ts';
import { BOARD_PORT, WEBHOOK_PORT } from './options.ts';
import { policyOfFile, fixedPolicy } from '../config/live-policy.ts';
import { createLogger } from '../process/log.ts';
import { runUntilSignal } from '../process/signals.ts';
import { print, printNote } from '../process/print.ts';
import { DEFAULT_TASK_QUEUE } from '../contract/names.ts';
import { viewOfRun, waitAndPrint } from './wait-for-verdict.ts';
import { withBelay } from './open-belay.ts';

export interface DevOptions {
  temporalPort: number;
  uiPort: number;
  webhookPort?: number;
  boardPort?: number;
  json?: boolean;
}

const RETENTION_DAYS = 30;

export async function dev(options: DevOptions): Promise<void> {
  const home = homeFolder();
  const service = await serviceConfig();
  const configuration = await readConfiguration();
  const temporal = isTemporalConfigured() ? findTemporal() : null;
  if (service === null && temporal !== null) throw sandboxRefused(temporal);
  const running = temporal === null ? await claimHome(home) : null;
  if (running !== null) {
    const remedy = 'stop it first, or set BELAY_HOME to another folder';
    throw new BelayError('Usage', `belay dev is already running in ${home} (process ${running.pid}): ${remedy}`);
  }
  try {
    await runStack(options, { home, service, temporal, configuration });
  } finally {
    if (temporal === null) await removeDevServerRecord(home);
  }
}

async function runStack(
  options: DevOptions,
  { home, ...parts }: { home: string } & Pick<StackOptions, 'service' | 'temporal' | 'configuration'>,
): Promise<void> {
  const policy = await policyOfFile(parts.configuration, { log: createLogger('info', process.stderr.isTTY) });
  const portOf = async (option: string, asked: number | undefined, likely: number) =>
    asked === undefined ? { likely } : choosePort(option, asked);
  const webhookPort = await portOf('--webhook-port', options.webhookPort, WEBHOOK_PORT);
  const boardPort = await portOf('--board-port', options.boardPort, BOARD_PORT);
  const stack = await startStack({
    folder: home,
    ...parts,
    policy,
    server: { port: options.temporalPort, uiPort: options.uiPort, keepsData: true, retentionDays: RETENTION_DAYS },
    taskQueue: taskQueue(),
    webhookPort,
  });
  try {
    const board = await startOwnBoard(stack, boardPort, parts.temporal === null);
    try {
      if (parts.temporal === null) await writeDevServerRecord(home, await recordOf(stack));
      printReady(stack, board.url, options.json === true);
      await runUntilSignal(stack.broken);
    } finally {
      await board.close();
    }
  } finally {
    await stack.stop();
  }
}

function startOwnBoard({ temporal, service }: Stack, port: BoardServerOptions['port'], isEmbedded: boolean) {
  const { connectionOptions, uiUrl } = temporal;
  const { address } = connectionOptions;
  const own = isEmbedded ? { address, ...(uiUrl === null ? {} : { uiUrl }) } : {};
  return startBoard({
    host: '127.0.0.1',
    port,
    service,
    temporal: own,
    log: createLogger('warn', process.stderr.isTTY),
  });
}

/** Only the sandbox's own token is recorded: `service` of another stack is a real one. */
async function recordOf({ temporal, service, sandbox }: Stack): Promise<DevServerRecord> {
  const record = { pid: process.pid, temporal: temporal.connectionOptions.address, ui: temporal.uiUrl };
  return sandbox === null ? record : { ...record, sandbox: { url: service.baseUrl, token: await service.token() } };
}

/**
 * On a Temporal server that others use, real runs would be executed against the emulator and reported `completed`. A
 * loopback address proves nothing: it may be forwarded to production.
 */
function sandboxRefused({ connectionOptions: { address } }: TemporalEndpoint): BelayError {
  const remedy = 'set BELAY_API_URL to the hosting service, or unset TEMPORAL_ADDRESS and TEMPORAL_PROFILE';
  return new BelayError(
    'Usage',
    `the sandbox runs only with a Temporal server of its own, not with ${address}: ${remedy}`,
  );
}

function printReady({ temporal, service, sandbox, webhooks }: Stack, board: string, asJson: boolean): void {
  const address = temporal.connectionOptions.address;
  const webhooksUrl = webhooks?.url ?? null;
  if (asJson)
    return printJson({ temporal: address, ui: temporal.uiUrl, webhooks: webhooksUrl, board, service: service.baseUrl });
  const ui = temporal.uiUrl === null ? '' : `, Temporal UI ${temporal.uiUrl}`;
  const used = `service ${service.baseUrl}${sandbox === null ? '' : ' (sandbox)'}`;
  print(`ready: Temporal ${address}${ui}, webhooks ${webhooksUrl}, board ${board}, ${used}; not for production`);
}

/* What `belay demo` does: one complete run on a stack of its own, which it removes afterwards. */

export interface DemoOptions {
  keep?: boolean;
  json?: boolean;
}

/** One second between polls, so that the demo takes seconds instead of minutes. */
const PACE = { intervalMs: 1_000, tries: 30 };

export async function demo(options: DemoOptions): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'belay-demo-'));
  printNote('Starting a Temporal server, a worker and a sandbox that emulates the hosting service.');
  try {
    const stack = await startStack({
      folder,
      temporal: null,
      server: { port: 0, uiPort: 0, keepsData: false, retentionDays: 1 },
      service: null,
      configuration: {},
      taskQueue: DEFAULT_TASK_QUEUE,
      policy: fixedPolicy({}),
    });
    try {
      printNote('Backing up server s1, then deploying site a1.');
      process.exitCode = await runOnce(stack, options.json === true);
      if (options.keep !== true) {
        printNote(
          'Stopping everything. To keep it running and open the run in the Temporal UI: npx belay-deploy demo --keep',
        );
        return;
      }
      const { connectionOptions, uiUrl } = stack.temporal;
      printNote(`Still running: Temporal ${connectionOptions.address}, Temporal UI ${uiUrl}. Press Ctrl-C to stop.`);
      await runUntilSignal(stack.broken);
    } finally {
      await stack.stop();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function runOnce({ temporal, service }: Stack, asJson: boolean): Promise<number> {
  const { address } = temporal.connectionOptions;
  const ui = temporal.uiUrl === null ? {} : { uiUrl: temporal.uiUrl };
  return withBelay(
    async (belay) => {
      const run = await belay.start({ serverId: 's1', siteIds: ['a1'], backup: PACE, deploy: PACE });
      return waitAndPrint(run, viewOfRun(belay, run), { json: asJson });
    },
    { service: service.baseUrl, address, taskQueue: DEFAULT_TASK_QUEUE, ...ui },
  );
}
