/** Temporal on PostgreSQL, started by the scripts and with the settings of docker-compose.yml. */
import { execFile, spawn } from 'node:child_process';
import { open, symlink } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { childEnvironment } from '../../src/config/environment/environment.ts';
import { atEnd } from '../support/at-end.ts';
import { inRepository, service } from '../support/compose.ts';
import { eventually } from '../support/eventually.ts';
import { lastingPort } from '../support/lasting-port.ts';
import { temporalExecutable, tempFolder } from '../support/temporal.ts';
import type { Postgresql } from './postgresql.ts';
import { stopAtEnd } from './stop-at-end.ts';
import type { TemporalPrograms } from './temporal-programs.ts';

const run = promisify(execFile);
const STOP_LIMIT_MS = 60_000;
const SERVICES = ['FRONTEND', 'HISTORY', 'MATCHING', 'WORKER'];

export interface Temporal {
  address: string;
  namespace: string;
  pid: number;
}

export async function startTemporal(
  database: Postgresql,
  { folder, schemaFolder }: TemporalPrograms,
): Promise<Temporal> {
  const home = await tempFolder();
  const cli = await temporalExecutable();
  // As in the image of the admin tools. A program that was found on the PATH needs no link.
  if (cli !== 'temporal') await symlink(cli, join(home, 'temporal'));
  const env = {
    ...childEnvironment(),
    PATH: [home, folder, process.env.PATH].join(delimiter),
    POSTGRES_PASSWORD_FILE: database.passwordFile,
  };
  await run('sh', [inRepository('deploy/with-database-password.sh'), 'sh', inRepository('deploy/setup-schema.sh')], {
    env: {
      ...service('temporal-schema').environment,
      ...env,
      SQL_HOST: '127.0.0.1',
      SQL_PORT: `${database.port}`,
      TEMPORAL_SCHEMA_FOLDER: schemaFolder,
    },
  });
  const ports = await portsOf();
  const log = await open(join(home, 'temporal.log'), 'w');
  const server = spawn(
    'sh',
    [inRepository('deploy/with-database-password.sh'), join(folder, 'temporal-server'), 'start'],
    {
      cwd: home,
      env: {
        ...service('temporal').environment,
        ...env,
        ...ports,
        BIND_ON_IP: '127.0.0.1',
        POSTGRES_SEEDS: '127.0.0.1',
        DB_PORT: `${database.port}`,
        DYNAMIC_CONFIG_FILE_PATH: inRepository('deploy/dynamic-config.yaml'),
      },
      stdio: ['ignore', log.fd, log.fd],
    },
  );
  atEnd(() => log.close());
  stopAtEnd(server, { signal: 'SIGTERM', lastSignal: 'SIGKILL', limitMs: STOP_LIMIT_MS });
  await healthy(ports.FRONTEND_HTTP_PORT!);
  const address = `127.0.0.1:${ports.FRONTEND_GRPC_PORT}`;
  const { TEMPORAL_NAMESPACE: namespace } = service('temporal-namespace').environment;
  await run('sh', [inRepository('deploy/create-namespace.sh')], {
    env: { ...env, TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace },
  });
  return { address, namespace: namespace!, pid: server.pid! };
}

/** Its services talk to each other through free ports of this machine. */
async function portsOf(): Promise<Record<string, string>> {
  const names = [...SERVICES.flatMap((it) => [`${it}_GRPC_PORT`, `${it}_MEMBERSHIP_PORT`]), 'FRONTEND_HTTP_PORT'];
  const ports = new Set<number>();
  while (ports.size < names.length) ports.add(await lastingPort());
  return Object.fromEntries(names.map((name, index) => [name, `${[...ports][index]}`]));
}

/** What the health check of the container asks. */
async function healthy(port: string): Promise<void> {
  const asked = new URL(service('temporal').healthcheck!.test.at(-1)!);
  asked.port = port;
  await eventually('a healthy Temporal', () =>
    fetch(asked).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
}
