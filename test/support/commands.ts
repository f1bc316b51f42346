/** Shared by most tests of the command line: a stack, and ways to run commands, mostly in this process. */
import type { Client } from '@temporalio/client';
import type { Sandbox } from '../../src/sandbox/server.ts';
import { runInProcess } from './in-process.ts';
import { start, type Finished, type Started } from './processes.ts';
import { startTestStack, temporalEnv, type TestStack } from './world.ts';

export interface Commands {
  sandbox: Sandbox;
  uiUrl: string;
  /** The environment of a user who only starts and waits. */
  env: Record<string, string>;
  /** Temporal's own client, to inspect workflows. */
  client: Client;
  /** Runs in this process, one after another: a command that waits for a later one never ends. */
  belay: (...args: string[]) => Promise<Finished>;
  /** Starts a process. */
  start: (...args: string[]) => Started;
}

/** Call once per suite. */
export async function startCommands(): Promise<Commands> {
  // A deployment that no read sees in progress takes ten seconds more.
  const quick = { durationMs: 500 };
  return commandsOf(await startTestStack({ defaults: { backup: quick, deployment: quick } }));
}

/** For suites that use the stack in other ways as well. */
export function commandsOf(stack: TestStack): Commands {
  const { sandbox, uiUrl, client } = stack;
  const env = { ...temporalEnv(stack), BELAY_UI_URL: uiUrl };
  return {
    sandbox,
    uiUrl,
    env,
    client,
    belay: (...args) => runInProcess(args, env),
    start: (...args) => start(args, env),
  };
}

const stacks = new Map<string, Promise<Commands>>();

/**
 * One stack for several suites: that of `runs` for those that look only at their own servers and sites, that of
 * `nothing` for those in which nothing may start.
 */
export function commandsOn(stack: 'runs' | 'nothing'): Promise<Commands> {
  const started = stacks.get(stack) ?? startCommands();
  stacks.set(stack, started);
  return started;
}
