/**
 * Sends 150 events a second about one server while 20 runs go on: once with the rate cap, and once without it, with twenty
 * words of the sender, so that 10 workflows a second remain after coalescing, and with few slots for events. No POST may be
 * sent too late. Option: `--seconds <of each flood>`.
 */
import { flood, type Flood } from '../test/support/event-flood.ts';
import { startTestStack } from '../test/support/world.ts';
import { number } from './report/amounts.ts';
import { positive } from './report/options.ts';
import { runPart } from './report/run-part.ts';

const DURATION_MS = 5_000;

await runPart('event-flood', async ({ isQuick, given }) => {
  const seconds = positive(given, 'seconds', isQuick ? 20 : 60);
  const base = { perSecond: 150, runs: 20, leastMs: 1_000 * seconds };
  const slots = { workflowTasks: 2, activities: 4, cachedWorkflows: 50 };
  const floods: Record<string, Flood> = {
    'default rate cap, one word': { ...base, words: 1 },
    'no cap, 20 words, few slots': { ...base, words: 20, maxPerMinute: 60_000, slots },
  };
  const defaults = { backup: { durationMs: DURATION_MS }, deployment: { durationMs: DURATION_MS } };
  const world = await startTestStack({ defaults });
  const rounds = [];
  for (const [name, options] of Object.entries(floods)) {
    const { results, answers, notSent, seconds: tookS } = await flood(world, options);
    const completed = results.filter(({ outcome }) => outcome === 'completed').length;
    rounds.push({ name, runs: results.length, completed, notSent, tookS, answers: Object.fromEntries(answers) });
  }
  return {
    plan: floods,
    figures: Object.fromEntries(rounds.map(({ name, ...figures }) => [name, figures])),
    rounds,
    tables: [
      {
        title: `${base.perSecond} events a second, at least ${seconds} s`,
        head: ['flood', 'deliveries by answer', 'completed runs', 'not sent', 'took'],
        rows: rounds.map(({ name, runs, completed, notSent, tookS, answers }) => [
          name,
          Object.entries(answers)
            .map(([status, count]) => `${number(count)} × ${status}`)
            .join(', '),
          `${completed} of ${runs}`,
          number(notSent),
          `${number(tookS)} s`,
        ]),
      },
    ],
  };
});
