/**
 * Compares Belay with other ways to wait for deployments: on the same service, with the same interval and number of waits.
 * The ways take turns, in another order in each round. Option: `--rounds <n>`.
 */
import { takeTurns } from './load/rounds.ts';
import { createSteadiness } from './load/spin.ts';
import { positive } from './report/options.ts';
import { progress, runPart } from './report/run-part.ts';
import { startService } from './service/start-service.ts';
import { belayWay } from './ways/belay-way.ts';
import { measureBlock, type Block } from './ways/block.ts';
import { measureSteady, type Steady } from './ways/steady.ts';
import { PEERS, peerVersions } from './ways/peer-ways.ts';
import { reportWays } from './ways/report.ts';
import type { OpenWay, Way } from './ways/way.ts';

const WAYS: readonly Way[] = [
  belayWay('Belay'),
  belayWay('Belay again'),
  belayWay('Belay, pooled waits', 'pooled'),
  ...PEERS,
];
const TRIES = 1_000;

await runPart('ways', async ({ isQuick, deadlineMs, given }) => {
  const most = positive(given, 'rounds', isQuick ? 1 : 3);
  const plan = isQuick
    ? { waits: 20, intervalMs: 1_500, measureMs: 4_500, steadyMs: 2_000, tries: TRIES }
    : { waits: 100, intervalMs: 5_000, measureMs: 15_000, steadyMs: 10_000, tries: TRIES };
  const service = await startService();
  const opened: { way: Way; open: OpenWay }[] = [];
  for (const way of WAYS) {
    const open = await way.open(service, plan);
    if (open !== null) opened.push({ way, open });
  }
  const steadiness = createSteadiness(isQuick ? 0 : 1);
  const [held, steady]: [Block[], Steady[]] = [[], []];
  const { rounds, missed } = await takeTurns(opened, most, deadlineMs, async ({ way, open }, round) => {
    progress(`round ${round + 1} of ${most}: ${way.name}`);
    const turn = { way: way.name, round, open, service };
    held.push(await measureBlock(turn, plan, steadiness));
    steady.push(await measureSteady(turn, plan));
  });
  return reportWays({
    ways: opened.filter((it) => !missed.includes(it)).map(({ way }) => way),
    missed: missed.map(({ way }) => way.name),
    plan: { ...plan, rounds },
    again: steadiness.again,
    ...{ held, steady },
    tools: peerVersions(),
  });
});
