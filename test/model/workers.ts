/** `belay worker` processes that are killed, stopped, and restarted as by a supervisor. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../support/eventually.ts';

const RESTART_PAUSE_MS = 300;

/** Kills each child if this process exits first. One listener for all of them: Node warns of a leak at the eleventh. */
const killsAtExit = new Set<() => void>();
process.once('exit', () => {
  for (const kill of killsAtExit) kill();
});

export interface SupervisedWorker {
  /** Resolves when it polls. */
  ready(): Promise<void>;
  /** Ends it for this time. */
  down(signal: 'SIGKILL' | 'SIGTERM', forMs: number | Promise<unknown>): Promise<void>;
  pause(forMs: number): Promise<void>;
  close(): Promise<void>;
}

export function superviseWorker(cli: string, env: Record<string, string>): SupervisedWorker {
  let wanted = true;
  let held: Promise<unknown> = Promise.resolve();
  let child: ChildProcess | null = null;
  let polls = false;
  let said = '';
  const kept = ['PATH', 'HOME'].map((name) => [name, process.env[name]]);

  async function live(): Promise<void> {
    child = spawn(process.execPath, [cli, 'worker'], {
      env: { ...Object.fromEntries(kept), ...env } as NodeJS.ProcessEnv,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    said = '';
    child.stderr!.on('data', (data: Buffer) => {
      said = (said + data.toString()).slice(-4_000);
      polls ||= said.includes('polling');
    });
    await once(child, 'close');
    polls = false;
  }

  const life = (async () => {
    while (wanted) {
      await live();
      await Promise.all([held, sleep(RESTART_PAUSE_MS)]);
    }
  })();

  const killAtExit = () => void child?.kill('SIGKILL');
  killsAtExit.add(killAtExit);

  const gone = async () => {
    while (child !== null && child.exitCode === null && child.signalCode === null) await sleep(10);
  };

  return {
    async ready() {
      await eventually('a worker that polls', () => polls || !wanted).catch((error: Error) => {
        throw new Error(`${error.message}; it printed:\n${said}`);
      });
    },
    async down(signal, forMs) {
      const over = typeof forMs === 'number' ? sleep(forMs) : forMs;
      held = over;
      child?.kill(signal);
      await Promise.all([gone(), over]);
    },
    async pause(forMs) {
      const paused = child;
      paused?.kill('SIGSTOP');
      await sleep(forMs);
      paused?.kill('SIGCONT');
    },
    async close() {
      wanted = false;
      child?.kill('SIGTERM');
      const late = setTimeout(() => child?.kill('SIGKILL'), 5_000);
      await life;
      killsAtExit.delete(killAtExit);
      clearTimeout(late);
    },
  };
}
