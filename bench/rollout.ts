/**
 * Measures rollouts where 3 % of the deployments fail: one whose worker is never killed, one with a single kill, and one
 * with two. Compares the wall time with the best that the limit and the service's durations allow. Options: `--servers
 * <n> --sites <n> --limit <at once>`.
 */
import { rollFleet, type FleetReport } from '../test/support/fleet.ts';
import { startTemporal } from '../test/support/temporal.ts';
import { noteOfMissed, takeTurns } from './load/rounds.ts';
import { barPlot } from './plot/bar-plot.ts';
import { fixed, ms, number, seconds } from './report/amounts.ts';
import { positive } from './report/options.ts';
import type { Table } from './report/report.ts';
import { progress, runPart } from './report/run-part.ts';
import { rolloutPauses, type Pause, type PauseName } from './statistics/rollout-pauses.ts';

const KILLS = [0, 1, 2];
const QUICK_KILLS = [0, 1];
const PACE = { oneFailsOf: 33, backupMs: 4_000, deploymentMs: 3_000, intervalMs: 500, deployedBefore: true };

/** What happens in a lane of the rollout beside its operations. */
const PAUSES = {
  toBegin: 'to the first request',
  toRead: 'from an end to the read that sees it',
  toNextOperation: 'from that read to the next request of the run',
  toNextServer: 'to the first request of the next run',
  toEnd: 'to the end of the rollout',
} as const satisfies Record<PauseName, string>;

interface Rolled extends Omit<FleetReport, 'result' | 'targets' | 'journal'> {
  kills: number;
  pauses: Record<PauseName, Pause>;
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
    const { result, targets, journal, ...rolled } = await rollFleet({ servers, sites, atOnce, kills, ...PACE }, place);
    const { servers: ended, deployments } = result;
    const { beganMs: fromMs, wallMs, bestMs } = rolled;
    const durationMs = { backup: PACE.backupMs, deployment: PACE.deploymentMs };
    const pauses = rolloutPauses(journal, { servers: targets, atOnce, durationMs, fromMs, toMs: fromMs + wallMs });
    rounds.push({ kills, ...rolled, pauses, timesBest: wallMs / bestMs, servers: ended, deployments });
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
      pausesTable(rounds),
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

function pausesTable(rounds: readonly Rolled[]): Table {
  return {
    title: 'Where the time goes beside the operations, in each of those at once: each pause, and their sum',
    head: ['pause', ...rounds.map(({ kills }) => `${kills} kills`)],
    rows: (Object.keys(PAUSES) as PauseName[]).map((name) => [
      PAUSES[name],
      ...rounds.map(
        ({
          pauses: {
            [name]: { eachMs, timesInLane },
          },
        }) => `${ms(eachMs)}, ${seconds(eachMs * timesInLane)}`,
      ),
    ]),
  };
}
