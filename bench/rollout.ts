/**
 * Measures a rollout over 100 servers with 300 sites, where 3% of the deployments fail and the worker is killed twice.
 * Compares its wall time with the best that the limit and the service's durations allow. Part of `npm run bench`; takes
 * other numbers as arguments.
 */
import { rollFleet } from '../test/support/fleet.ts';
import { startTemporal } from '../test/support/temporal.ts';
import { endAll } from '../test/support/at-end.ts';

const [servers = 100, sites = 300, limit = 10] = process.argv.slice(2).map(Number);

const { address } = await startTemporal();
const { result, wallMs, bestMs, atOnce, history } = await rollFleet(
  {
    servers,
    sites,
    atOnce: limit,
    oneFailsOf: 33,
    backupMs: 4_000,
    deploymentMs: 3_000,
    intervalMs: 500,
    kills: 2,
  },
  { address, namespace: 'default' },
);
process.stdout.write(
  [
    `${servers} servers, ${sites} sites: ${result.servers.completed} servers and ${result.deployments.completed} sites completed`,
    `at most ${atOnce} servers at once, the worker killed twice, nothing triggered twice`,
    `wall time ${Math.round(wallMs / 1000)} s, ${(wallMs / bestMs).toFixed(2)} times the best possible of ${bestMs / 1000} s`,
    `history of the rollout: ${history.events} events, ${Math.round(history.bytes / 1024)} KB`,
    '',
  ].join('\n'),
);
await endAll();
