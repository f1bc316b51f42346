/**
 * `npm run test:all -- monitoring`: promtool checks and tests the alerts. Then a worker and a receiver are scraped after
 * real runs, and every metric that alerts and dashboard use has to be there. A real Prometheus answers the queries of
 * gates. Exits 75 if promtool or prometheus is missing.
 */
import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connect } from '../../src/starter.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { atEnd, endAll } from '../support/at-end.ts';
import { connectTo } from '../support/connect.ts';
import { eventually } from '../support/eventually.ts';
import { lastingPort } from '../support/lasting-port.ts';
import { leftOut, MissingProgram } from '../support/missing-program.ts';
import { startWebhooks, startWorkerProcess } from '../support/processes.ts';
import { startTemporal, tempFolder } from '../support/temporal.ts';
import { temporalEnv, TOKEN } from '../support/world.ts';
import { checkGates } from './gates.ts';
import { dashboardQueries, metricsIn, rules } from './files.ts';

const DEPLOY = fileURLToPath(new URL('../../deploy', import.meta.url));
const PACE = { intervalMs: 500, tries: 60 };

/** The SDK shows these counters once a workflow task or a poll has failed. */
const ONLY_AFTER_FAILURES = ['temporal_workflow_task_execution_failed_total', 'temporal_long_request_failure_total'];

function promtool(...args: string[]): void {
  const { status, error } = spawnSync('promtool', args, { cwd: DEPLOY, stdio: 'inherit' });
  if (error !== undefined)
    throw new MissingProgram("promtool is missing: install Prometheus, such as Debian's package");
  if (status !== 0) throw new Error(`promtool ${args.join(' ')} exits ${status}`);
}

/** The text of /metrics of a worker and a receiver, after each kind of operation and a delivery. */
async function scrape(): Promise<string> {
  const { address } = await startTemporal();
  const place = { address, namespace: 'default' };
  const sandbox = await startSandbox({ token: TOKEN });
  atEnd(() => sandbox.close());
  const config = join(await tempFolder(), 'belay.yaml');
  await writeFile(
    config,
    'events: { sources: { panel: { verify: standard-webhooks, secrets: [{ env: SECRET }] } } }\n',
  );
  const env = { ...temporalEnv(place), BELAY_CONFIG: config, SECRET: `whsec_${'c2VjcmV0'.repeat(4)}` };
  const metrics = `127.0.0.1:${await lastingPort()}`;
  const service = { BELAY_API_URL: sandbox.url, BELAY_API_TOKEN: TOKEN };
  await startWorkerProcess({ ...env, ...service, BELAY_METRICS_ADDRESS: metrics });
  const receiver = await startWebhooks(env);
  const connection = await connectTo(address);
  atEnd(() => connection.close());
  const belay = await connect({ connection, ...place });
  const run = await belay.start({ serverId: '12', siteIds: ['34'], backup: PACE, deploy: PACE });
  await run.result();
  await fetch(`${receiver.url}/webhooks/panel`, { method: 'POST', body: '{}' });
  const urls = [`http://${metrics}/metrics`, `${receiver.url}/metrics`];
  return eventually('the run in the metrics', async () => {
    const texts = await Promise.all(urls.map(async (url) => (await fetch(url)).text()));
    const text = texts.join('\n');
    return text.includes('belay_runs_total{') ? text : null;
  });
}

function compare(text: string): string[] {
  const scraped = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!));
  const shown = new Set(dashboardQueries().flatMap(metricsIn));
  const used = new Set([...shown, ...rules().flatMap(({ expr }) => metricsIn(expr))]);
  const absent = [...used].filter((name) => !scraped.has(name) && !ONLY_AFTER_FAILURES.includes(name));
  const unused = [...scraped].filter((name) => name.startsWith('belay_') && !shown.has(name));
  return [
    ...absent.map((name) => `${name} is used, but neither worker nor receiver has it`),
    ...unused.map((name) => `${name} is not on the dashboard`),
  ];
}

try {
  promtool('check', 'rules', 'alerts.yml');
  promtool('test', 'rules', 'alerts.test.yml');
  process.stdout.write(`gates read ${await checkGates()} answers of Prometheus as they are to\n`);
  const problems = compare(await scrape());
  process.stdout.write(`${problems.length === 0 ? 'every metric is there' : problems.join('\n')}\n`);
  process.exitCode = problems.length === 0 ? 0 : 1;
} catch (error) {
  process.exitCode = leftOut(error);
} finally {
  await endAll();
}
process.exit();
