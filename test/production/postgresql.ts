/** A PostgreSQL of the system in a temporary folder, with the same user and settings as in docker-compose.yml. */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { childEnvironment } from '../../src/config/environment/environment.ts';
import { atEnd } from '../support/at-end.ts';
import { service } from '../support/compose.ts';
import { eventually } from '../support/eventually.ts';
import { lastingPort } from '../support/lasting-port.ts';
import { MissingProgram } from '../support/missing-program.ts';
import { stopAtEnd } from './stop-at-end.ts';

const run = promisify(execFile);
const INSTALLED = '/usr/lib/postgresql';
/** A stop waits for a checkpoint. */
const STOP_LIMIT_MS = 30_000;

export interface Postgresql {
  version: string;
  /** Of its first process. */
  readonly pid: number;
  port: number;
  user: string;
  passwordFile: string;
  /** Where its data is. */
  home: string;
  /** Disconnects everybody and ends it. */
  stop: () => Promise<void>;
  /** Starts it again with the same data. */
  restart: () => Promise<void>;
  /** @returns the values of a query's only row */
  query: (sql: string) => Promise<string[]>;
}

/** The programs of the newest version. @throws MissingProgram */
function programs(): { folder: string; version: string } {
  const versions = existsSync(INSTALLED) ? readdirSync(INSTALLED).map(Number) : [];
  const version = String(Math.max(...versions.filter((it) => existsSync(`${INSTALLED}/${it}/bin/initdb`))));
  if (version === '-Infinity') throw new MissingProgram('PostgreSQL is not installed: install the package postgresql');
  return { folder: `${INSTALLED}/${version}/bin`, version };
}

/** PostgreSQL refuses to run as root. */
async function owner(): Promise<{ uid?: number; gid?: number }> {
  if (process.getuid?.() !== 0) return {};
  const [uid, gid] = await Promise.all(['-u', '-g'].map((flag) => run('id', [flag, 'postgres'])));
  return { uid: Number(uid?.stdout), gid: Number(gid?.stdout) };
}

/**
 * @param prepare called with its folder before there is data
 * @throws MissingProgram
 */
export async function startPostgresql(
  prepare: (home: string) => Promise<void> = () => Promise.resolve(),
): Promise<Postgresql> {
  const { folder, version } = programs();
  const [home, as, port] = [await mkdtemp(join(tmpdir(), 'belay-postgresql-')), await owner(), await lastingPort()];
  atEnd(() => rm(home, { recursive: true, force: true }));
  await prepare(home);
  const user = service('postgresql').environment.POSTGRES_USER!;
  const passwordFile = join(home, 'password');
  const password = randomBytes(16).toString('hex');
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
  if (as.uid !== undefined) for (const path of [home, passwordFile]) await chown(path, as.uid, as.gid!);
  const env = childEnvironment();
  const options = { ...as, env, cwd: home };
  const data = join(home, 'data');
  const setUp = ['--auth=scram-sha-256', `--pwfile=${passwordFile}`, `--username=${user}`, '--encoding=UTF8'];
  await run(join(folder, 'initdb'), [`--pgdata=${data}`, '--no-locale', ...setUp], options);
  const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', `unix_socket_directories=${home}`];
  const where = ['--host=127.0.0.1', `--port=${port}`, `--username=${user}`];
  let server: ChildProcess;
  const live = async () => {
    const args = ['-D', data, ...settings.flatMap((it) => ['-c', it])];
    server = spawn(join(folder, 'postgres'), args, { ...options, stdio: 'ignore' });
    // SIGINT disconnects the clients.
    stopAtEnd(server, { signal: 'SIGINT', lastSignal: 'SIGQUIT', limitMs: STOP_LIMIT_MS });
    await eventually('PostgreSQL', () =>
      run(join(folder, 'pg_isready'), where, { env }).then(
        () => true,
        () => false,
      ),
    );
  };
  const stop = async () => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'close');
    server.kill('SIGINT');
    await ended;
  };
  await live();
  const query = async (sql: string) => {
    const asked = run(join(folder, 'psql'), [...where, '--no-align', '--tuples-only', '--command', sql, 'postgres'], {
      env: { ...env, PGPASSWORD: password },
    });
    return (await asked).stdout.trim().split('|');
  };
  return {
    ...{ version, port, user, passwordFile, home, query, stop, restart: live },
    get pid() {
      return server.pid!;
    },
  };
}
