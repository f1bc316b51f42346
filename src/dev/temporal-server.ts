/** An embedded Temporal server: one process tree that ends when asked to, or when its parent dies. */
import { fork, type ChildProcess } from 'node:child_process';
import { open, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { msToTs } from '@temporalio/common/lib/time.js';
import { NativeConnection } from '@temporalio/worker';
import { ConfigError } from '../config/environment/environment.ts';
import { BelayError } from '../contract/results/belay-error.ts';
import { choosePort, listens } from './choose-port.ts';

const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 5_000;
const NAMESPACE = 'default';
/** Beside the two ports it is given the server chooses some by chance, which others may take before it listens there. */
const ATTEMPTS = 3;

export interface ServerOptions {
  /** The program, from findExecutable. */
  executable: string;
  /** Where its output goes. */
  logFile: string;
  /** The SQLite file; without one everything is forgotten at the end. */
  dbFile?: string;
  /** 0 = any free port */
  port?: number;
  uiPort?: number;
  /** How long closed runs are kept. */
  retentionDays: number;
  env: NodeJS.ProcessEnv;
}

export interface TemporalServer {
  readonly address: string;
  readonly uiUrl: string;
  /** The server's own process. */
  readonly pid: number;
  /** Resolves when the server is gone, asked to or not. */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

/** @throws ConfigError or BelayError, with what the server's log says */
export async function startServer(options: ServerOptions): Promise<TemporalServer> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await launch(options);
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      if (error instanceof EndedEarly && attempt < ATTEMPTS) continue;
      const reason = error instanceof Error ? error.message : String(error);
      const message = `the Temporal server did not start: ${reason}\n${await lastWords(options.logFile)}`;
      throw new BelayError('TemporalUnreachable', message);
    }
  }
}

/** One attempt; what it began is gone when it throws. */
async function launch(options: ServerOptions): Promise<TemporalServer> {
  const port = await choosePort('--temporal-port', options.port ?? 0);
  const uiPort = await choosePort('--ui-port', options.uiPort ?? 0);
  const log = await open(options.logFile, 'w');
  const guard = fork(
    fileURLToPath(new URL(`./server-guard.${sourceEnding()}`, import.meta.url)),
    argsFor(options, port, uiPort),
    {
      // Not in our process group: Ctrl-C is for Belay, which stops the server last.
      detached: true,
      stdio: ['ignore', log.fd, log.fd, 'ipc'],
      env: options.env,
    },
  );
  await log.close();
  const ended = new Promise<void>((resolve) => guard.once('exit', () => resolve()));
  const stop = () => stopGuard(guard, ended);
  const address = `127.0.0.1:${port}`;
  try {
    const pid = await serverPid(guard);
    // Only a guard that was killed leaves its server behind.
    void ended.then(() => killIfThere(pid));
    await ready({ address, uiPort, retentionDays: options.retentionDays, guard });
    return { address, uiUrl: `http://127.0.0.1:${uiPort}`, pid, ended, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** What the log says about an end, whose trace would hide it; else its last lines. */
async function lastWords(logFile: string): Promise<string> {
  const lines = (await readFile(logFile, 'utf8').catch(() => '')).trim().split('\n');
  const telling = lines.filter((line) => /^panic:|^fatal error:|level=ERROR/.test(line));
  return `${(telling.length > 0 ? telling : lines).slice(-5).join('\n')}\n(${logFile})`;
}

function argsFor(options: ServerOptions, port: number, uiPort: number): string[] {
  return [
    options.executable,
    ...['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(port), '--ui-port', String(uiPort)],
    ...['--namespace', NAMESPACE, '--log-level', 'error'],
    ...(options.dbFile === undefined ? [] : ['--db-filename', options.dbFile]),
    // Twice the throughput; safe when the process is killed, not when the power fails.
    ...['--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=NORMAL'],
    // Without this every timer under a second takes a second.
    ...['--dynamic-config-value', 'history.timerProcessorMaxTimeShift="20ms"'],
  ];
}

class EndedEarly extends Error {}

async function serverPid(guard: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    guard.once('error', reject);
    guard.once('exit', () => reject(new EndedEarly('it ended at once')));
    guard.once('message', (message: { pid?: number; failed?: string }) =>
      message.pid === undefined ? reject(new Error(message.failed ?? 'no process')) : resolve(message.pid),
    );
  });
}

interface Starting {
  address: string;
  uiPort: number;
  retentionDays: number;
  guard: ChildProcess;
}

async function ready({ address, uiPort, retentionDays, guard }: Starting): Promise<void> {
  const deadlineMs = Date.now() + START_TIMEOUT_MS;
  let problem = 'it does not answer';
  while (Date.now() < deadlineMs) {
    if (!guard.connected) throw new EndedEarly('it ended');
    try {
      await keepRuns(address, retentionDays);
      if (await listens(uiPort)) return;
      problem = 'its UI does not answer';
    } catch (error) {
      problem = error instanceof Error ? error.message : String(error);
    }
    await sleep(50);
  }
  throw new Error(problem);
}

async function keepRuns(address: string, retentionDays: number): Promise<void> {
  const connection = await NativeConnection.connect({ address });
  try {
    const config = { workflowExecutionRetentionTtl: msToTs(`${retentionDays} days`) };
    await connection.workflowService.updateNamespace({ namespace: NAMESPACE, config });
  } finally {
    await connection.close();
  }
}

async function stopGuard(guard: ChildProcess, ended: Promise<void>): Promise<void> {
  guard.kill('SIGTERM');
  const late = setTimeout(() => guard.connected && guard.disconnect(), STOP_TIMEOUT_MS);
  await ended;
  clearTimeout(late);
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It went with its guard, as it should.
  }
}

function sourceEnding(): 'ts' | 'js' {
  return import.meta.url.endsWith('.ts') ? 'ts' : 'js';
}
