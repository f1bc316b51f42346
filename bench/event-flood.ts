/**
 * Sends 150 events a second about one server for two minutes while 20 runs go on: once with the rate cap, and once
 * without it, with twenty words of the sender, so that 10 workflows a second remain after coalescing, and with few
 * slots for events. No POST may be sent too late. Part of `npm run bench`; takes other seconds, and part of the name of
 * the one to play, as arguments.
 */
import { flood, type Flood } from '../test/support/event-flood.ts';
import { endAll } from '../test/support/at-end.ts';
import { startTestStack } from '../test/support/world.ts';

const [seconds = '120', only = ''] = process.argv.slice(2);

const world = await startTestStack({ defaults: { backup: { durationMs: 5_000 }, deployment: { durationMs: 5_000 } } });
const base = { perSecond: 150, runs: 20, leastMs: Number(seconds) * 1_000 };
const slots = { workflowTasks: 2, activities: 4, cachedWorkflows: 50 };
for (const [name, options] of Object.entries<Flood>({
  'with the cap': { ...base, words: 1 },
  'without the cap, few slots': { ...base, words: 20, maxPerMinute: 60_000, slots },
})) {
  if (!name.includes(only)) continue;
  const { results, answers, notSent, seconds: took } = await flood(world, options);
  const completed = results.filter(({ outcome }) => outcome === 'completed').length;
  const answered = [...answers].map(([status, count]) => `${count} × ${status}`).join(', ');
  process.stdout.write(
    `${name}: ${completed} of ${results.length} runs completed, ${notSent} NotSent, ` +
      `${Math.round(took)} s, deliveries ${answered}\n`,
  );
}
await endAll();
