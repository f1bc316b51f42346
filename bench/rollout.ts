/**
 * Measures rollouts where 3 % of the deployments fail: one whose worker is never killed, one with a single kill, and one
 * with two. Compares the wall time with the best that the limit and the service's durations allow. Options: `--servers
 * <n> --sites <n> --limit <at once>`.
 */
import { rollFleet, type FleetReport } from '../test/support/fleet.ts';
import { startTemporal } from '../test/support/temporal.ts';
import { noteOfMissed, takeTurns } from './load/rounds.ts';
import { barPlot } from './plot/bar-plot.ts';
import { fixed, number, seconds } from './report/amounts.ts';
import { positive } from './report/options.ts';
import { progress, runPart } from './report/run-part.ts';

const KILLS = [0, 1, 2];
const QUICK_KILLS = [0, 1];
const PACE = { oneFailsOf: 33, backupMs: 4_000, deploymentMs: 3_000, intervalMs: 500 };

interface Rolled extends Omit<FleetReport, 'result'> {
  kills: number;
  timesBest: number;
  /** How many servers and deployments ended with which outcome. */
  servers: FleetReport['result']['servers'];
  deployments: FleetReport['result']['deployments'];
}

await runPart('rollout', async ({ isQuick, deadlineMs, given }) => {
  const servers = positive(given, 'servers', isQuick ? 10 : 100);
  const sites = positive(given, 'sites', isQuick ? 20 : 300);
  const atOnce = positive(given, 'limit', 10);
  const rounds: Rolled[] = [];
  const { missed } = await takeTurns(isQuick ? QUICK_KILLS : KILLS, 1, deadlineMs, async (kills) => {
    progress(`${servers} servers, ${sites} sites, kills: ${kills}`);
    const temporal = await startTemporal();
    const place = { address: temporal.address, namespace: 'default' };
    const { result, ...rolled } = await rollFleet({ servers, sites, atOnce, kills, ...PACE }, place);
    const { servers: ended, deployments } = result;
    rounds.push({ kills, ...rolled, timesBest: rolled.wallMs / rolled.bestMs, servers: ended, deployments });
    await temporal.stop();
  });
  rounds.sort((a, b) => a.kills - b.kills);
  return {
    plan: { servers, sites, atOnce, ...PACE },
    figures: { timesBest: Object.fromEntries(rounds.map(({ kills, timesBest }) => [kills, timesBest])) },
    rounds,
    tables: [
      {
        title: `${servers} servers, ${sites} sites, ${atOnce} at once; the best possible is ${seconds(rounds[0]!.bestMs)}`,
        head: ['kills', 'wall time', '× best', 'most at once', 'completed sites', 'history of the rollout'],
        rows: rounds.map(({ kills, wallMs, timesBest, atOnce: most, deployments, history }) => [
          String(kills),
          seconds(wallMs),
          fixed(timesBest, 2),
          String(most),
          `${deployments.completed} of ${sites}`,
          `${number(history.events)} events, ${number(history.bytes / 1_024)} KB`,
        ]),
      },
    ],
    plots: {
      times: barPlot(
        'Wall time of a rollout, in times of the best possible',
        rounds.map(({ kills, timesBest }) => ({
          name: kills === 1 ? '1 kill' : `${kills || 'no'} kills`,
          value: timesBest,
          text: fixed(timesBest, 2),
        })),
      ),
    },
    notes: ['No deployment was requested twice.', ...noteOfMissed(missed.map((kills) => `${kills} kills`))],
  };
});
