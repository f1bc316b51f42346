/**
 * `npm run test:all -- production`: the topology of docker-compose.yml as plain processes. Fifty runs, two workers, and
 * one of them is killed every 20 s for three minutes. Exits 75 if PostgreSQL or Go is missing.
 */
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { startSandbox } from '../../src/sandbox/server.ts';
import { connect } from '../../src/starter.ts';
import { usedByTree } from '../../bench/processes.ts';
import { closedOperations } from '../model/play-batch.ts';
import { play } from '../model/play.ts';
import type { Played } from '../model/record.ts';
import { superviseWorker } from '../model/workers.ts';
import { CLI } from '../support/processes.ts';
import { atEnd, endAll, endOnSignals } from '../support/at-end.ts';
import { service } from '../support/compose.ts';
import { connectTo } from '../support/connect.ts';
import { eventually } from '../support/eventually.ts';
import { lastingPort } from '../support/lasting-port.ts';
import { tempFolder } from '../support/temporal.ts';
import { killInTurn } from './kills.ts';
import { ANSWER_MS, load, PREFIX, RUNS } from './load.ts';
import { leftOut } from '../support/missing-program.ts';
import { startPostgresql, type Postgresql } from './postgresql.ts';
import { startTemporal, type Temporal } from './temporal.ts';
import { temporalPrograms } from './temporal-programs.ts';
import { figuresOf, problemsOf } from './verdicts.ts';

const PATIENCE_MS = 600_000;

const beganMs = Date.now();
const say = (line: string) =>
  process.stdout.write(`${((Date.now() - beganMs) / 1_000).toFixed(0).padStart(4)} s  ${line}\n`);

async function main(): Promise<string[]> {
  const programs = await temporalPrograms(say);
  const database = await startPostgresql();
  const temporal = await startTemporal(database, programs);
  say(`Temporal ${programs.version} on PostgreSQL ${database.version}`);
  const played = await playWithKills(temporal);
  const wrong = problemsOf(played);
  if (wrong.length > 0) await keep(played);
  return [...wrong, ...(await tooManyConnections(database)), ...countProblem(played)];
}

async function keep(played: Played): Promise<void> {
  const file = join(tmpdir(), `belay-production-${beganMs}.json`);
  await writeFile(file, JSON.stringify(played, null, 2));
  say(`what was played is kept in ${file}`);
}

async function playWithKills({ address, namespace, pid }: Temporal): Promise<Played> {
  const token = randomBytes(16).toString('hex');
  const sandbox = await startSandbox({ token });
  atEnd(() => sandbox.close());
  const tokenFile = join(await tempFolder(), 'token');
  await writeFile(tokenFile, token);
  const ports = [await lastingPort(), await lastingPort()];
  const workers = ports.map((port) =>
    superviseWorker(CLI, {
      ...pick(service('worker').environment, 'NODE_OPTIONS'),
      TEMPORAL_ADDRESS: address,
      TEMPORAL_NAMESPACE: namespace,
      BELAY_API_URL: sandbox.url,
      BELAY_API_TOKEN_FILE: tokenFile,
      BELAY_METRICS_ADDRESS: `127.0.0.1:${port}`,
    }),
  );
  atEnd(() => Promise.all(workers.map((worker) => worker.close())));
  const connection = await connectTo(address);
  atEnd(() => connection.close());
  const [belay, client] = [await connect({ connection, namespace }), new Client({ connection, namespace })];
  await allReady(ports);
  say('two workers are ready');
  const stage = { arena: { sandbox, belay }, prefix: PREFIX, late: AbortSignal.timeout(PATIENCE_MS) };
  const [part, deeds] = await Promise.all([play(load(), stage), killInTurn(workers, sandbox, say)]);
  await allReady(ports);
  say('all runs have closed, and both workers are ready');
  say(`memory of Temporal: ${Math.round(usedByTree(pid).memoryMb)} MB`);
  return { ...part, operations: await closedOperations({ client }), deeds };
}

const pick = (from: Record<string, string>, name: string) => ({ [name]: from[name]! });

/** As the health check of the containers asks. */
async function allReady(ports: number[]): Promise<void> {
  const isReady = (port: number) =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  await eventually('two workers that are ready', async () => (await Promise.all(ports.map(isReady))).every(Boolean));
}

/** Of the pools that docker-compose.yml sets, PostgreSQL has never more connections than they allow. */
async function tooManyConnections({ query, user }: Postgresql): Promise<string[]> {
  const { SQL_MAX_CONNS, SQL_VIS_MAX_CONNS } = service('temporal').environment;
  const most = 4 * (Number(SQL_MAX_CONNS) + Number(SQL_VIS_MAX_CONNS));
  const [open] = await query(
    `SELECT count(*) FROM pg_stat_activity WHERE usename = '${user}' AND datname LIKE 'temporal%'`,
  );
  say(`connections to PostgreSQL: ${open}, at most ${most}`);
  return Number(open) <= most ? [] : [`${open} connections to PostgreSQL, and the pools allow ${most}`];
}

function countProblem(played: Played): string[] {
  const figures = figuresOf(played, ANSWER_MS);
  for (const [name, value] of Object.entries(figures)) say(`${name}: ${value}`);
  return played.runs.length === RUNS ? [] : [`${played.runs.length} runs, not ${RUNS}`];
}

endOnSignals();

try {
  const problems = await main();
  for (const problem of problems) say(`WRONG: ${problem}`);
  say(
    problems.length === 0
      ? 'every verdict is right, and no deployment was requested twice'
      : `${problems.length} problems`,
  );
  process.exitCode = problems.length === 0 ? 0 : 1;
} catch (error) {
  process.exitCode = leftOut(error);
} finally {
  await endAll();
}
process.exit();
