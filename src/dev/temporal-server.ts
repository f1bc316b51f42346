/** An embedded Temporal server: a process tree that ends on request or with its parent. */
import { fork, type ChildProcess } from 'node:child_process';
import { open, readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { msToTs } from '@temporalio/common/lib/time.js';
import { NativeConnection } from '@temporalio/worker';
import { ConfigError } from '../config/environment/variables.ts';
import { BelayError } from '../contract/errors.ts';
import { choosePort, listens } from './ports.ts';
import { TIMING } from '../contract/timing.ts';
import { messageOf } from '../contract/safe-text.ts';

const NAMESPACE = 'default';
/**
 * Besides its two given ports, the server picks free ones, and another process may take one before the server listens.
 */
const ATTEMPTS = 3;

export interface ServerOptions {
  /** The program, from findExecutable. */
  executable: string;
  logFile: string;
  /** The SQLite file; without one, the data is lost at the end. */
  dbFile?: string;
  /** 0 = any free port */
  port?: number;
  uiPort?: number;
  retentionDays: number;
  env: NodeJS.ProcessEnv;
}

export interface TemporalServer {
  readonly address: string;
  readonly uiUrl: string;
  /** The process id of the server, not of its guard. */
  readonly pid: number;
  /** Resolves when the server has ended for any reason. */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
}

/** @throws ConfigError or BelayError, with the errors in the server's log */
export async function startServer(options: ServerOptions): Promise<TemporalServer> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await launch(options);
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      if (error instanceof EndedEarly && attempt < ATTEMPTS) continue;
      const reason = messageOf(error);
      const message = `the Temporal server did not start: ${reason}\n${await errorsInLog(options.logFile)}`;
      throw new BelayError('TemporalUnreachable', message);
    }
  }
}

/** Makes one attempt, and cleans up if it throws. */
async function launch(options: ServerOptions): Promise<TemporalServer> {
  const port = await choosePort('--temporal-port', options.port ?? 0);
  const uiPort = await choosePort('--ui-port', options.uiPort ?? 0);
  const log = await open(options.logFile, 'w');
  const guard = fork(
    fileURLToPath(new URL(`./server-guard${extname(import.meta.url)}`, import.meta.url)),
    argsFor(options, port, uiPort),
    {
      // A process group of its own, so that Ctrl-C reaches only Belay, which stops the server last.
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
    // A killed guard leaves its server running.
    void ended.then(() => killIfThere(pid));
    await ready({ address, uiPort, retentionDays: options.retentionDays, guard });
    return { address, uiUrl: `http://127.0.0.1:${uiPort}`, pid, ended, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Returns the error lines of the log, because stack traces would hide them. Without any, it returns the last lines. */
async function errorsInLog(logFile: string): Promise<string> {
  const lines = (await readFile(logFile, 'utf8').catch(() => '')).trim().split('\n');
  const errors = lines.filter((line) => /^panic:|^fatal error:|level=ERROR/.test(line));
  return `${(errors.length > 0 ? errors : lines).slice(-5).join('\n')}\n(${logFile})`;
}

const DYNAMIC_CONFIG = [
  // Without this, every timer shorter than a second takes a second.
  'history.timerProcessorMaxTimeShift="20ms"',
  // Each shard looks for due timers and new tasks at most this many times a second. The default is 20, and there is one
  // shard.
  'history.timerProcessorMaxPollRPS=200',
  'history.transferProcessorMaxPollRPS=200',
  // As on newer servers: an activity goes back to the worker that scheduled it, unless the workflow objects.
  'system.enableActivityEagerExecution=true',
];

function argsFor(options: ServerOptions, port: number, uiPort: number): string[] {
  return [
    options.executable,
    ...['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(port), '--ui-port', String(uiPort)],
    ...['--namespace', NAMESPACE, '--log-level', 'error'],
    ...(options.dbFile === undefined ? [] : ['--db-filename', options.dbFile]),
    // Doubles the throughput. Data survives a kill of the process, but not a power failure.
    ...['--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=NORMAL'],
    ...DYNAMIC_CONFIG.flatMap((value) => ['--dynamic-config-value', value]),
  ];
}

class EndedEarly extends Error {}

async function serverPid(guard: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    guard.once('error', reject);
    guard.once('exit', () => reject(new EndedEarly('it exited at once')));
    guard.once('message', (message: { pid?: number; failed?: string }) =>
      message.pid === undefined ? reject(new Error(message.failed ?? 'it has no process id')) : resolve(message.pid),
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
  const deadlineMs = Date.now() + TIMING.dev.serverStartMs;
  let problem = 'it does not answer';
  while (Date.now() < deadlineMs) {
    if (!guard.connected) throw new EndedEarly('it exited');
    try {
      await keepRuns(address, retentionDays);
      if (await listens(uiPort)) return;
      problem = 'its UI does not answer';
    } catch (error) {
      problem = messageOf(error);
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
  const late = setTimeout(() => guard.connected && guard.disconnect(), TIMING.dev.serverStopMs);
  await ended;
  clearTimeout(late);
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The server ended with its guard, as expected.
  }
}
