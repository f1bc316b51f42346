/**
 * Compares Belay with other ways to wait for deployments: on the same service, with the same interval and number of waits.
 * The ways take turns, in another order in each round. Part of `npm run bench`; options: `--quick`,
 * `--rounds <n>`, `--out <folder>`.
 */
import { parseArgs } from 'node:util';
import { startSandbox } from '../src/sandbox/server.ts';
import { endAll, atEnd } from '../test/support/at-end.ts';
import { TOKEN } from '../test/support/world.ts';
import { belayWay } from './ways/belay-way.ts';
import { measureBlock, type Block, type BlockPlan } from './ways/block.ts';
import { measureSteady, type Steady } from './ways/steady.ts';
import { PEERS } from './ways/peer-ways.ts';
import { report } from './ways/report.ts';
import type { OpenWay, Service, Way } from './ways/way.ts';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    out: { type: 'string', default: '.belay/bench' },
  },
});
const ROUNDS = Number(values.rounds ?? (values.quick ? 1 : 5));
const PLAN: BlockPlan = values.quick
  ? { waits: 50, measureMs: 10_000, intervalMs: 5_000, tries: 1_000 }
  : { waits: 100, measureMs: 60_000, intervalMs: 10_000, tries: 1_000 };
/** A block whose fixed work took longer by this part, before or after, is measured again. */
const MOST_SLOWER = 0.05;
const MOST_AGAIN = values.quick ? 0 : 1;

const WAYS: readonly Way[] = [belayWay('Belay'), belayWay('Belay again'), ...PEERS];

const opened: { way: Way; open: OpenWay }[] = [];
const held: Block[] = [];
const steady: Steady[] = [];
let [again, fastestMs] = [0, Infinity];
try {
  await measureAll();
  const ways = opened.map(({ way }) => way);
  await report({ ways, plan: PLAN, rounds: ROUNDS, again, held, steady }, values.out);
} finally {
  await endAll();
}

async function measureAll(): Promise<void> {
  const sandbox = await startSandbox({ token: TOKEN });
  atEnd(() => sandbox.close());
  const service: Service = { ...sandbox, token: TOKEN };
  for (const way of WAYS) {
    const open = await way.open(service, PLAN);
    if (open !== null) opened.push({ way, open });
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { way, open } of shuffled(opened)) {
      process.stderr.write(`round ${round + 1} of ${ROUNDS}: ${way.name}\n`);
      held.push(await measured(service, way.name, round, open));
      steady.push(await measureSteady({ way: way.name, round, open, service }, PLAN));
    }
  }
}

async function measured(service: Service, way: string, round: number, open: OpenWay): Promise<Block> {
  for (let made = 0; ; made += 1) {
    const block = await measureBlock({ way, round: round * (MOST_AGAIN + 1) + made, open, service }, PLAN);
    fastestMs = Math.min(fastestMs, ...block.spinMs);
    const isSlow = Math.max(...block.spinMs) > (1 + MOST_SLOWER) * fastestMs;
    if (!isSlow || made >= MOST_AGAIN) return { ...block, round };
    again += 1;
  }
}

function shuffled<T>(list: readonly T[]): T[] {
  const left = [...list];
  return list.map(() => left.splice(Math.floor(Math.random() * left.length), 1)[0]!);
}
