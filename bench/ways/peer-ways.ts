/** The other tools. Their programs are in bench/peers, a package of its own: `npm ci --prefix bench/peers` installs it. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { atEnd } from '../../test/support/at-end.ts';
import { eventually } from '../../test/support/eventually.ts';
import { killDescendants } from '../../test/support/process-tree.ts';
import { environment } from '../../test/support/processes.ts';
import { startTemporal } from '../../test/support/temporal.ts';
import type { OpenWay, Pace, Service, Way } from './way.ts';

const FOLDER = fileURLToPath(new URL('../peers/', import.meta.url));
const UP_MS = 120_000;

const say = (text: string) => void process.stderr.write(`${text}\n`);

const settings = ({ url, token }: Service, { intervalMs, tries }: Pace) => ({
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

const plainLoop: Way = {
  name: 'Temporal, plain loop',
  lacks: 'evidence, locks, requests in doubt, hints; drifts by the time of each read',
  async open(service, pace) {
    const { address, pid } = await startTemporal();
    const peer = await startPeer('plain-loop.js', { ...settings(service, pace), TEMPORAL_ADDRESS: address });
    return { ...peer, pids: () => [pid, ...peer.pids()] };
  },
};

const shell: Way = {
  name: 'shell and curl',
  lacks: 'all of that, and survives no kill and no restart',
  open: (service, pace) => startPeer('shell.sh', settings(service, pace), 'sh'),
};

const restate: Way = {
  name: 'Restate',
  lacks: 'evidence, locks, requests in doubt, hints; drifts by the time of each read',
  async open(service, pace) {
    if (!isInstalled('@restatedev/restate-sdk')) return null;
    return startPeer('restate.js', settings(service, pace));
  },
};

const dbos: Way = {
  name: 'DBOS',
  lacks: 'evidence, locks, requests in doubt, hints, a UI; drifts by the time of each read',
  async open(service, pace) {
    const { BENCH_POSTGRES_URL: url, BENCH_POSTGRES_PID: pid } = process.env;
    if (!isInstalled('@dbos-inc/dbos-sdk')) return null;
    if (url === undefined || pid === undefined) {
      say('DBOS is left out: set BENCH_POSTGRES_URL to an empty database, and BENCH_POSTGRES_PID to its server');
      return null;
    }
    const peer = await startPeer('dbos.js', { ...settings(service, pace), POSTGRES_URL: url });
    return { ...peer, pids: () => [Number(pid), ...peer.pids()] };
  },
};

function isInstalled(name: string): boolean {
  const installed = existsSync(`${FOLDER}node_modules/${name}`);
  if (!installed) say(`${name} is left out: npm ci --prefix bench/peers installs it`);
  return installed;
}

export const PEERS: readonly Way[] = [plainLoop, shell, restate, dbos];
