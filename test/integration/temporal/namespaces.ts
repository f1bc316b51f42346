/** A server whose database is a file, with a namespace without encryption, one with it, and one that changes. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import type { RunResult } from '../../../src/contract/run.ts';
import { startSandbox, type Sandbox } from '../../../src/sandbox/server.ts';
import { atEnd } from '../../support/at-end.ts';
import { connectTo } from '../../support/connect.ts';
import { eventually } from '../../support/eventually.ts';
import { runInProcess } from '../../support/in-process.ts';
import { encryptionOf, newKeyFile } from '../../support/key-files.ts';
import type { Finished } from '../../support/processes.ts';
import { executableWith, startTemporal, tempFolder } from '../../support/temporal.ts';
import { allFiles } from '../../support/token.ts';
import { addWorker, temporalEnv, TOKEN } from '../../support/world.ts';

const NAMESPACES = ['plain', 'encrypted', 'changing'] as const;
export type Namespace = (typeof NAMESPACES)[number];

export interface Place {
  address: string;
  sandbox: Sandbox;
  keysFile: string;
  /** Without keys. */
  clients: Record<Namespace, Client>;
  /** The environment of a starter with keys. */
  withKeys: Record<string, string>;
  /** Runs a command of a starter in this namespace. */
  belay: (namespace: Namespace, env: Record<string, string>, ...args: string[]) => Promise<Finished>;
  /** What is in the files of Temporal, and in those that SQLite keeps beside them. */
  databaseText: () => Promise<string>;
}

let starting: Promise<Place> | undefined;

/** Once for all suites of the test file. */
export const startPlace = (): Promise<Place> => (starting ??= start());

async function start(): Promise<Place> {
  const database = join(await tempFolder(), 'database');
  await mkdir(database);
  const executable = await executableWith(NAMESPACES.flatMap((it) => ['--namespace', it]));
  const { address } = await startTemporal({ executable, dbFile: join(database, 'temporal.db') });
  const sandbox = await startSandbox({ token: TOKEN });
  atEnd(() => sandbox.close());
  const connection = await connectTo(address);
  atEnd(() => connection.close());
  for (const namespace of NAMESPACES) {
    await eventually(`namespace ${namespace}`, () =>
      connection.workflowService.countWorkflowExecutions({ namespace }).then(
        () => true,
        () => false,
      ),
    );
  }
  const keysFile = await newKeyFile('2026-11');
  const encryption = encryptionOf(keysFile);
  await addWorker({ address, namespace: 'plain' }, 'belay', sandbox.url);
  await addWorker({ address, namespace: 'encrypted' }, 'belay', sandbox.url, {}, { encryption });
  const clientOf = (namespace: Namespace) => new Client({ connection, namespace });
  return {
    ...{ address, sandbox, keysFile },
    clients: { plain: clientOf('plain'), encrypted: clientOf('encrypted'), changing: clientOf('changing') },
    withKeys: { BELAY_CODEC_KEYS_FILE: keysFile },
    belay: (namespace, env, ...args) => runInProcess(args, { ...temporalEnv({ address, namespace }), ...env }),
    databaseText: async () => Object.values(await allFiles(database)).join('\n'),
  };
}

/** Texts that only the service, or the one who starts a run, knows. */
export const canariesOf = (mark: Namespace) => ({
  word: `${mark}-word-canary`,
  failure: `${mark}-failure-canary`,
  backupId: `${mark}-backup-canary`,
  note: `${mark}-note-canary`,
});

/** A run whose first site is deployed and whose second one the service refuses. */
export async function runIn({ sandbox, belay }: Place, namespace: Namespace, env = {}): Promise<RunResult> {
  const { word, failure, backupId, note } = canariesOf(namespace);
  const [server, good, bad] = [`${namespace}-server`, `${namespace}-good`, `${namespace}-bad`];
  const json = (code: number, body: object) =>
    ({ kind: 'body', code, type: 'application/json', text: JSON.stringify(body) }) as const;
  sandbox.script({ site: good }, { words: [word], ends: 'never' });
  sandbox.fault(
    { route: 'create-backup', target: server, answer: json(201, { id: backupId }) },
    { route: 'backup', target: backupId, answer: json(200, { status: 'completed' }) },
    { route: 'deploy', target: bad, answer: json(422, { message: failure }) },
  );
  const sites = ['--site', good, '--site', bad, '--keep-going'];
  const pace = ['--backup-interval', '500ms', '--deploy-interval', '500ms', '--deploy-tries', '2000'];
  const options = ['--meta', `note=${note}`, '--key', 'k', '--json'];
  const running = belay(namespace, env, 'run', '--server', server, ...sites, ...pace, ...options);
  await eventually(`a read of ${good}`, () => sandbox.journal.some(({ said }) => said === word));
  sandbox.finish({ site: good }, 'completed');
  return (await running).json();
}
