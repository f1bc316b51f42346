/**
 * Kills the worker with many waits in flight, once with loops and once with pooled waits, and measures when each wait is
 * read again. Option: `--count 1000`.
 */
import { openStack } from './load/belay-stack.ts';
import { climb, type Step } from './load/climb.ts';
import { killAndFollow, type Kill } from './load/kill.ts';
import { noteOfMissed, takeTurns } from './load/rounds.ts';
import { createSteadiness } from './load/spin.ts';
import { firstReadsPlot, killJson, killTable, readsAroundKillPlot, stepJson, stepTable } from './load/step-report.ts';
import { positive } from './report/options.ts';
import { progress, runPart } from './report/run-part.ts';
import { startService } from './service/start-service.ts';

const WAYS = ['loop', 'pooled'] as const;
const INTERVAL_MS = 10_000;
const BEFORE_KILL_MS = 20_000;

await runPart('sigkill', async ({ isQuick, deadlineMs, given }) => {
  const count = positive(given, 'count', isQuick ? 50 : 1_000);
  const plan = { counts: [count], intervalMs: INTERVAL_MS, measureMs: 2 * INTERVAL_MS };
  const service = await startService();
  const steadiness = createSteadiness(0);
  const measured: { name: string; step: Step; kill: Kill; requestsAgain: number }[] = [];
  const { missed } = await takeTurns(WAYS, 1, deadlineMs, async (waits) => {
    progress(`${count} waits: ${waits}`);
    const stack = await openStack(service);
    const { again } = await service.counts();
    const steps = { ...plan, waits, backlog: Infinity, deadlineMs: Infinity };
    const climbed = await climb(stack, service, waits, steps, steadiness);
    const kill = await killAndFollow(stack, service, climbed.sites, {
      intervalMs: INTERVAL_MS,
      beforeMs: BEFORE_KILL_MS,
    });
    const requestsAgain = (await service.counts()).again - again;
    measured.push({ name: waits, step: climbed.steps[0]!, kill, requestsAgain });
    await stack.close();
  });
  measured.sort((a, b) => a.name.localeCompare(b.name));
  return {
    plan,
    figures: Object.fromEntries(measured.map(({ name, kill }) => [name, killJson(kill)])),
    rounds: measured.map(({ step, kill, ...it }) => ({ ...it, step: stepJson(step), kill: killJson(kill) })),
    tables: [
      killTable('SIGKILL of the worker, from the start of the new one', measured),
      stepTable('Before it, a read each 10 s', measured),
    ],
    plots: {
      'reads-a-second': readsAroundKillPlot('Reads a second around a SIGKILL of the worker', measured),
      'first-reads': firstReadsPlot('First read of each wait after the start of the new worker', measured),
    },
    notes: [
      ...measured.map(({ name, requestsAgain }) => `${name}: ${requestsAgain} requests sent again.`),
      ...noteOfMissed(missed),
    ],
  };
});
