/** The other tools. Their programs are in bench/peers, a package of its own: `npm ci --prefix bench/peers` installs it. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { atEnd } from '../../test/support/at-end.ts';
import { eventually } from '../../test/support/eventually.ts';
import { killDescendants } from '../../test/support/process-tree.ts';
import { environment } from '../../test/support/processes.ts';
import { startTemporal } from '../../test/support/temporal.ts';
import { startPostgresql } from '../../test/production/postgresql.ts';
import { MissingProgram } from '../../test/support/missing-program.ts';
import { versionIn } from '../report/machine.ts';
import { progress } from '../report/run-part.ts';
import type { OpenWay, Pace, ServicePlace, Way } from './way.ts';

const FOLDER = fileURLToPath(new URL('../peers/', import.meta.url));
const UP_MS = 120_000;
const [RESTATE, RESTATE_SERVER, DBOS] = ['@restatedev/restate-sdk', '@restatedev/restate-server', '@dbos-inc/dbos-sdk'];

const settings = ({ url, token }: ServicePlace, { intervalMs, tries }: Pace) => ({
  SERVICE_URL: url,
  SERVICE_TOKEN: token,
  INTERVAL_MS: String(intervalMs),
  INTERVAL_SECONDS: String(intervalMs / 1_000),
  TRIES: String(tries),
});

/** A program that begins a wait for each line of its stdin. */
async function startPeer(
  file: string,
  env: Record<string, string>,
  interpreter: string = process.execPath,
): Promise<OpenWay> {
  const child = spawn(interpreter, [`${FOLDER}${file}`], { env: environment(env), stdio: ['pipe', 'pipe', 'pipe'] });
  atEnd(async () => {
    killDescendants(child.pid!);
    child.kill('SIGKILL');
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (data: Buffer) => void (stdout += data.toString()));
  child.stderr.on('data', (data: Buffer) => void (stderr += data.toString()));
  await eventually(
    `${file} to be ready`,
    () => {
      if (child.exitCode !== null) throw new Error(`${file} ended: ${stderr}`);
      return stdout.includes('ready');
    },
    UP_MS,
  );
  return {
    begin: async (siteId) => child.stdin.write(`${siteId}\n`),
    pids: () => [child.pid!],
  };
}

/** A Temporal server, and a worker that runs one of the workflows in bench/peers/temporal-workflows.js. */
const temporalWay = (name: string, workflow: string, lacks: string): Way => ({
  ...{ name, lacks },
  async open(service, pace) {
    const { address, pid } = await startTemporal();
    const env = { ...settings(service, pace), TEMPORAL_ADDRESS: address, WORKFLOW: workflow };
    const peer = await startPeer('temporal.js', env);
    return { ...peer, pids: () => [pid, ...peer.pids()] };
  },
});

const NO_RULES = 'evidence, locks, requests in doubt, hints; drifts by the time of each read';
const plainLoop = temporalWay('Temporal, plain loop', 'plainLoop', NO_RULES);
const retried = temporalWay('Temporal, retried activity', 'retriedActivity', `${NO_RULES}; reads look like failures`);

const shell: Way = {
  name: 'shell and curl',
  lacks: 'all of that, and survives no kill and no restart',
  open: (service, pace) => startPeer('shell.sh', settings(service, pace), 'sh'),
};

const restate: Way = {
  name: 'Restate',
  lacks: NO_RULES,
  async open(service, pace) {
    if (!isInstalled(RESTATE)) return null;
    return startPeer('restate.js', settings(service, pace));
  },
};

const dbos: Way = {
  name: 'DBOS',
  lacks: `${NO_RULES}; a UI`,
  async open(service, pace) {
    if (!isInstalled(DBOS)) return null;
    const database = await startPostgresql().catch((error: unknown) => {
      if (!(error instanceof MissingProgram)) throw error;
      progress(`DBOS is left out: ${error.message}`);
      return null;
    });
    if (database === null) return null;
    const { user, port, passwordFile } = database;
    const password = readFileSync(passwordFile, 'utf8').trim();
    const url = `postgresql://${user}:${password}@127.0.0.1:${port}/dbos`;
    const peer = await startPeer('dbos.js', { ...settings(service, pace), POSTGRES_URL: url });
    return { ...peer, pids: () => [database.pid, ...peer.pids()] };
  },
};

function isInstalled(name: string): boolean {
  const installed = existsSync(`${FOLDER}node_modules/${name}`);
  if (!installed) progress(`${name} is left out: npm ci --prefix bench/peers installs it`);
  return installed;
}

export const PEERS: readonly Way[] = [plainLoop, retried, shell, restate, dbos];

/** Of those that are installed. */
export function peerVersions(): Record<string, string> {
  const installed = [RESTATE_SERVER, DBOS].filter((name) => existsSync(`${FOLDER}node_modules/${name}`));
  return Object.fromEntries(
    installed.map((name) => [name, versionIn(`bench/peers/node_modules/${name}/package.json`)]),
  );
}
