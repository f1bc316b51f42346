/**
 * `npx tsx test/model/chaos.ts --runs N --seed S`, after `npm run build`: draws, plays and judges scenarios.
 * `--scenario FILE` replays one. `npm run test:all -- chaos` plays sixty draws.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { drawBatch, type Batch, type Killing } from './batch.ts';
import { playBatch } from './play-batch.ts';
import { addDraws, newSummary, summaryText, violationText, type Summary } from './summary.ts';

// Exits explicitly, so that no worker is left behind.
process.once('SIGTERM', () => process.exit(143));

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '90' },
    seed: { type: 'string' },
    /** How many scenarios are played at once. */
    size: { type: 'string', default: '30' },
    scenario: { type: 'string' },
  },
});

/** Two of three batches always lose a worker or the server. */
const KILLING: Killing[][] = [['SIGKILL worker'], ['SIGKILL server'], []];

async function chaos(summary: Summary): Promise<void> {
  const [runs, size] = [Number(values.runs), Number(values.size)];
  const first = values.seed === undefined ? Math.floor(Math.random() * 1e6) : Number(values.seed);
  for (let played = 0, seed = first; played < runs; played += size, seed += 1) {
    const killing = KILLING[seed % KILLING.length]!;
    const batch = drawBatch({ seed, size: Math.min(size, runs - played), mix: {}, killing });
    const { length } = batch.scenarios;
    await judged(batch, `npx tsx test/model/chaos.ts --runs ${length} --size ${length} --seed ${seed}`, summary);
    say(`seed ${seed}: ${summaryText(summary)}\n`);
  }
}

async function judged(batch: Batch, repeat: string, summary: Summary): Promise<void> {
  const draws = await playBatch(batch);
  addDraws(summary, draws);
  say(draws.map((draw) => violationText(draw, batch, repeat)).join(''));
}

const say = (text: string) => void process.stdout.write(text);

const summary = newSummary();
if (values.scenario === undefined) await chaos(summary);
else {
  const batch = JSON.parse(readFileSync(values.scenario, 'utf8')) as Batch;
  await judged(batch, `npx tsx test/model/chaos.ts --scenario ${values.scenario}`, summary);
  say(`${summaryText(summary)}\n`);
}
process.exit(summary.violations === 0 ? 0 : 1);
