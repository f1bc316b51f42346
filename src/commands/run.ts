/** `belay run`, `backup` and `deploy`: start a run and wait for its verdict. */
import { Command } from 'commander';
import type { RunInput } from '../contract.ts';
import { connect } from '../starter.ts';
import { EXIT } from './exit.ts';
import { addBackupOptions, addDeployOptions, detach, json, server, sites } from './options.ts';
import { printResult } from './output.ts';
import { waitAndPrint } from './waiting.ts';

interface RunOptions {
  server?: string;
  site?: string[];
  backupInterval?: number;
  backupTries?: number;
  deployInterval?: number;
  deployTries?: number;
  detach?: boolean;
  json?: boolean;
}

export function runCommands(): Command[] {
  const run = new Command('run')
    .description('back a server up, wait until that is really complete, then deploy sites and wait for the verdict')
    .addOption(server())
    .addOption(sites());
  const backup = new Command('backup')
    .description('back a server up and wait until that is complete')
    .addOption(server());
  const deploy = new Command('deploy').description('deploy sites and wait for the verdict').addOption(sites());
  addDeployOptions(addBackupOptions(run));
  addBackupOptions(backup);
  addDeployOptions(deploy);
  return [run, backup, deploy].map((command) =>
    command
      .addOption(detach())
      .addOption(json())
      .action(async (options: RunOptions) => void (process.exitCode = await startAndWait(options))),
  );
}

async function startAndWait(options: RunOptions): Promise<number> {
  const belay = await connect();
  try {
    const run = await belay.start(inputOf(options));
    if (options.detach !== true) return await waitAndPrint(run, { json: options.json === true });
    const { result } = await run.status();
    printResult(result, options.json === true);
    return EXIT.completed;
  } finally {
    await belay.close();
  }
}

function inputOf(options: RunOptions): RunInput {
  const backup = defined({ intervalMs: options.backupInterval, tries: options.backupTries });
  const deploy = defined({ intervalMs: options.deployInterval, tries: options.deployTries });
  return {
    siteIds: options.site ?? [],
    ...defined({ serverId: options.server }),
    ...(Object.keys(backup).length === 0 ? {} : { backup }),
    ...(Object.keys(deploy).length === 0 ? {} : { deploy }),
  };
}

/** Without the fields nobody gave. */
function defined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
