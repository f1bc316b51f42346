/** Shared by the tests of the command line: `belay dev` on a sandbox of the test, and clients without a token. */
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { connectTo } from './connect.ts';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/server.ts';
import { atEnd } from './at-end.ts';
import { run, start, startDev, type Dev, type Finished, type Started } from './processes.ts';
import { tempFolder } from './temporal.ts';
import { TOKEN } from './world.ts';

/** The pace as a workflow's input has it. The options below ask for the same. */
export const PACE_INPUT = { intervalMs: 200, tries: 2_000 };
const { intervalMs, tries } = PACE_INPUT;
export const BACKUP_PACE = ['--backup-interval', `${intervalMs}ms`, '--backup-tries', `${tries}`];
export const DEPLOY_PACE = ['--deploy-interval', `${intervalMs}ms`, '--deploy-tries', `${tries}`];
export const PACE = [...BACKUP_PACE, ...DEPLOY_PACE];

export interface CommandLine {
  sandbox: Sandbox;
  dev: Dev;
  /** The environment of a user who only starts runs and waits. */
  env: Record<string, string>;
  /** Temporal's own client, to inspect workflows. */
  client: Client;
  belay: (...args: string[]) => Promise<Finished>;
  start: (...args: string[]) => Started;
}

/** Call once per test file. */
export async function startCommandLine(options: Partial<SandboxOptions> = {}): Promise<CommandLine> {
  const quick = { durationMs: 500 };
  const sandbox = await startSandbox({ token: TOKEN, defaults: { backup: quick, deployment: quick }, ...options });
  atEnd(() => sandbox.close());
  const env = { BELAY_HOME: join(await tempFolder(), 'home') };
  const dev = await startDev({ ...env, BELAY_API_URL: sandbox.url, BELAY_API_TOKEN: TOKEN });
  const connection = await connectTo(dev.ready.temporal);
  atEnd(() => connection.close());
  return {
    sandbox,
    dev,
    env,
    client: new Client({ connection }),
    belay: (...args) => run(args, env),
    start: (...args) => start(args, env),
  };
}
