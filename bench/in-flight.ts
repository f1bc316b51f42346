/**
 * Holds more and more deployments, once with the waits in the loops of workflows and once in the pool of the worker. The
 * ways take turns, each with a Temporal server and a worker of its own. Options: `--counts 100,400`, `--rounds <n>`,
 * `--ways loop,pooled`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Waits } from '../src/contract/run.ts';
import { resultOf } from '../test/support/outcome.ts';
import { openStack } from './load/belay-stack.ts';
import { climb, type Climbed, type ClimbPlan } from './load/climb.ts';
import { reportInFlight, type Ended, type InFlightRound } from './load/in-flight-report.ts';
import { takeTurns } from './load/rounds.ts';
import { createSteadiness } from './load/spin.ts';
import { numbers, positive } from './report/options.ts';
import { progress, runPart } from './report/run-part.ts';
import { startService, type Service } from './service/start-service.ts';

/** The first is what the others are compared with, and the second is the same again. */
const WAYS: readonly { way: string; waits: Waits }[] = [
  { way: 'loop', waits: 'loop' },
  { way: 'loop again', waits: 'loop' },
  { way: 'pooled', waits: 'pooled' },
];
const PAUSE_MS = 1_000;

/** @param given separated by commas. @throws Error that names a way that there is not */
function waysOf(given: string | undefined): typeof WAYS {
  const names = given?.split(',') ?? WAYS.map(({ way }) => way);
  return names.map((name) => {
    const found = WAYS.find(({ way }) => way === name);
    if (found === undefined) throw new Error(`--ways ${given}: choose from ${WAYS.map(({ way }) => way).join(', ')}`);
    return found;
  });
}

await runPart('in-flight', async ({ isQuick, deadlineMs, given }) => {
  const counts = numbers(given, 'counts', isQuick ? [20, 60] : [100, 400, 800, 1_000]);
  const plan = isQuick
    ? { counts, intervalMs: 4_000, measureMs: 8_000 }
    : { counts, intervalMs: 10_000, measureMs: 30_000 };
  const ways = waysOf(given.ways ?? (isQuick ? 'loop,pooled' : undefined));
  const most = positive(given, 'rounds', isQuick ? 1 : 2);
  const service = await startService();
  const steadiness = createSteadiness(isQuick ? 0 : 1);
  const measured: InFlightRound[] = [];
  const { rounds, missed } = await takeTurns(ways, most, deadlineMs, async ({ way, waits }, round) => {
    progress(`round ${round + 1} of ${most}: ${way}`);
    const steps = { ...plan, waits, backlog: Infinity, deadlineMs: Infinity };
    measured.push({ way, round, ...(await measure(service, `${way.replace(' ', '-')}-${round}`, steps)) });
  });

  return reportInFlight({
    ways: ways.filter((it) => !missed.includes(it)).map(({ way }) => way),
    missed: missed.map(({ way }) => way),
    plan: { ...plan, rounds },
    again: steadiness.again,
    measured,
  });

  async function measure(at: Service, prefix: string, steps: ClimbPlan): Promise<Omit<InFlightRound, 'way' | 'round'>> {
    const stack = await openStack(at);
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
  await service.endAll('completed');
  const deployments = (await Promise.all(runs.map(resultOf))).flatMap((result) => result.deployments);
  const others = deployments.map(({ outcome }) => outcome).filter((outcome) => outcome !== 'completed');
  return {
    completed: deployments.length - others.length,
    others: [...new Set(others.map(String))],
    requestsAgain: (await service.counts()).again - againBefore,
  };
}
