/** `belay demo`: one whole run on real parts, then everything is gone again. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { DEFAULT_TASK_QUEUE } from '../../contract/run.ts';
import type { Stack } from '../../dev/stack.ts';
import { examples, json } from '../options/add-run-options.ts';
import { untilStopped } from '../../process/run-until-signal.ts';
import { viewOfRun, waitAndPrint } from '../waiting/wait-for-verdict.ts';
import { openBelay } from '../waiting/connection.ts';

interface DemoOptions {
  keep?: boolean;
  json?: boolean;
}

/** A second between reads, so that it takes seconds, not minutes. */
const PACE = { intervalMs: 1_000, tries: 30 };

export function demoCommand(): Command {
  return new Command('demo')
    .description('show a backup and a deployment with a Temporal server, a worker and a sandbox of its own')
    .option('--keep', 'stay up afterwards, to look at the run in the Temporal UI')
    .addOption(json())
    .addHelpText('after', examples('belay demo', 'belay demo --keep'))
    .action(demo);
}

async function demo(options: DemoOptions): Promise<void> {
  // Only here: it loads the worker, which the other commands have no use for.
  const { startStack } = await import('../../dev/stack.ts');
  const folder = await mkdtemp(join(tmpdir(), 'belay-demo-'));
  const say = (line: string) => process.stderr.write(`${line}\n`);
  say('Starting a Temporal server, a worker, and a sandbox in place of the hosting service.');
  try {
    const stack = await startStack({
      folder,
      temporal: null,
      server: { port: 0, uiPort: 0, keepsData: false, retentionDays: 1 },
      service: null,
      taskQueue: DEFAULT_TASK_QUEUE,
    });
    try {
      say('Backing up server s1, then deploying site a1.');
      process.exitCode = await runOnce(stack, options.json === true);
      if (options.keep !== true) {
        say('Stopping it all again. To look at the run in the Temporal UI: npm run demo -- --keep');
        return;
      }
      say(
        `Still up: Temporal ${stack.temporal.connectionOptions.address}, UI ${stack.temporal.uiUrl}. Ctrl-C stops it.`,
      );
      await untilStopped(stack.broken);
    } finally {
      await stack.stop();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function runOnce({ temporal }: Stack, asJson: boolean): Promise<number> {
  const { connectionOptions, uiUrl } = temporal;
  const belay = await openBelay({
    address: connectionOptions.address,
    taskQueue: DEFAULT_TASK_QUEUE,
    ...(uiUrl === null ? {} : { uiUrl }),
  });
  try {
    const run = await belay.start({ serverId: 's1', siteIds: ['a1'], backup: PACE, deploy: PACE });
    return await waitAndPrint(run, viewOfRun(run), { json: asJson });
  } finally {
    await belay.close();
  }
}
