/** What `belay demo` does: one complete run on a stack of its own, which it removes afterwards. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_TASK_QUEUE } from '../contract/names.ts';
import type { Stack } from '../dev/stack.ts';
import { fixedPolicy } from '../config/live-policy.ts';
import { runUntilSignal } from '../process/run-until-signal.ts';
import { viewOfRun, waitAndPrint } from './wait-for-verdict.ts';
import { openBelay } from './open-belay.ts';
import { printNote } from '../process/print.ts';

export interface DemoOptions {
  keep?: boolean;
  json?: boolean;
}

/** One second between polls, so that the demo takes seconds instead of minutes. */
const PACE = { intervalMs: 1_000, tries: 30 };

export async function demo(options: DemoOptions): Promise<void> {
  // Imported only here, because it loads the worker, which most commands do not need.
  const { startStack } = await import('../dev/stack.ts');
  const folder = await mkdtemp(join(tmpdir(), 'belay-demo-'));
  const print = printNote;
  print('Starting a Temporal server, a worker and a sandbox that emulates the hosting service.');
  try {
    const stack = await startStack({
      folder,
      temporal: null,
      server: { port: 0, uiPort: 0, keepsData: false, retentionDays: 1 },
      service: null,
      taskQueue: DEFAULT_TASK_QUEUE,
      policy: fixedPolicy({}),
    });
    try {
      print('Backing up server s1, then deploying site a1.');
      process.exitCode = await runOnce(stack, options.json === true);
      if (options.keep !== true) {
        print(
          'Stopping everything. To keep it running and open the run in the Temporal UI: npx belay-deploy demo --keep',
        );
        return;
      }
      const { connectionOptions, uiUrl } = stack.temporal;
      print(`Still running: Temporal ${connectionOptions.address}, Temporal UI ${uiUrl}. Press Ctrl-C to stop.`);
      await runUntilSignal(stack.broken);
    } finally {
      await stack.stop();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function runOnce({ temporal, serviceUrl }: Stack, asJson: boolean): Promise<number> {
  const { connectionOptions, uiUrl } = temporal;
  const belay = await openBelay({
    service: serviceUrl,
    address: connectionOptions.address,
    taskQueue: DEFAULT_TASK_QUEUE,
    ...(uiUrl === null ? {} : { uiUrl }),
  });
  try {
    const run = await belay.start({ serverId: 's1', siteIds: ['a1'], backup: PACE, deploy: PACE });
    return await waitAndPrint(run, viewOfRun(belay, run), { json: asJson });
  } finally {
    await belay.close();
  }
}
