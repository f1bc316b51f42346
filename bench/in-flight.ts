/**
 * Holds more and more deployments, once with the waits in the loops of workflows and once in the pool of the worker, or
 * with each of several builds. They take turns, each with a Temporal server and a worker of its own. Options:
 * `--counts 100,400`, `--rounds <n>`, `--ways loop,pooled`, `--builds before=<checkout>,now=.`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Run, RunResult } from '../src/starter.ts';
import { climb, type Climbed, type ClimbPlan } from './load/climb.ts';
import { reportInFlight, type Ended, type InFlightRound } from './load/in-flight-report.ts';
import { waysOf, type InFlightWay } from './load/in-flight-ways.ts';
import { takeTurns } from './load/rounds.ts';
import { createSteadiness } from './load/spin.ts';
import { numbers, positive } from './report/options.ts';
import { progress, runPart } from './report/run-part.ts';
import { startService, type Service } from './service/start-service.ts';
import { slug } from './ways/way.ts';

const PAUSE_MS = 1_000;

await runPart('in-flight', async ({ isQuick, deadlineMs, given }) => {
  const counts = numbers(given, 'counts', isQuick ? [20, 60] : [100, 400, 800, 1_000]);
  const plan = isQuick
    ? { counts, intervalMs: 4_000, measureMs: 8_000 }
    : { counts, intervalMs: 10_000, measureMs: 30_000 };
  const ways = await waysOf(given, isQuick);
  const most = positive(given, 'rounds', isQuick ? 1 : 2);
  const service = await startService();
  const steadiness = createSteadiness(isQuick ? 0 : 1);
  const measured: InFlightRound[] = [];
  const { rounds, missed } = await takeTurns(ways, most, deadlineMs, async (it, round) => {
    progress(`round ${round + 1} of ${most}: ${it.way}`);
    const steps = { ...plan, waits: it.waits, backlog: Infinity, deadlineMs: Infinity };
    measured.push({ way: it.way, round, ...(await measure(service, it, `${slug(it.way)}-${round}`, steps)) });
  });
  const builds = Object.fromEntries(ways.flatMap(({ way, commit }) => (commit === undefined ? [] : [[way, commit]])));

  return reportInFlight({
    ways: ways.filter((it) => !missed.includes(it)).map(({ way }) => way),
    missed: missed.map(({ way }) => way),
    plan: { ...plan, rounds, builds },
    again: steadiness.again,
    measured,
  });

  async function measure(
    at: Service,
    way: InFlightWay,
    prefix: string,
    steps: ClimbPlan,
  ): Promise<Omit<InFlightRound, 'way' | 'round'>> {
    const stack = await way.open(at);
    const { again } = await at.counts();
    const climbed = await climb(stack, at, prefix, steps, steadiness);
    const ended = await endAll(at, climbed, again);
    await stack.close();
    await sleep(PAUSE_MS);
    return { steps: climbed.steps, ended };
  }
});

/** @param againBefore requests that were repeated before */
async function endAll(service: Service, { runs }: Climbed, againBefore: number): Promise<Ended> {
  const ending = Promise.all(runs.map(resultOf));
  let results: RunResult[] | null = null;
  // Again and again: a run whose start was late may request its deployment after the others have ended.
  while (results === null) {
    await service.endAll('completed');
    results = await Promise.race([ending, sleep(PAUSE_MS, null)]);
  }
  const deployments = results.flatMap((result) => result.deployments);
  const others = deployments.map(({ outcome }) => outcome).filter((outcome) => outcome !== 'completed');
  return {
    completed: deployments.length - others.length,
    others: [...new Set(others.map(String))],
    requestsAgain: (await service.counts()).again - againBefore,
  };
}

/** Whatever its outcome. Another build throws errors of another class. */
function resultOf(run: Run): Promise<RunResult> {
  return run.result().catch((error: unknown) => {
    const result = (error as { result?: RunResult | null }).result;
    if (result) return result;
    throw error;
  });
}
