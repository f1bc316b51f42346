/**
 * `npm run test:all -- specification`: checks the types of the modules in docs/spec, simulates them, replays traces of
 * them with the workflows, and expects each broken rule to violate its invariant. Seeds are fixed, so every run gives the
 * same result.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import pMap from 'p-map';
import { changed } from '../mutants/mutant.ts';
import { BROKEN_RULES, type BrokenRule } from './broken-rules.ts';
import { checkReplay } from './check-replay.ts';
import { installQuint, simulate, SPEC, typeErrors } from './quint.ts';
import { REPLAYS } from './replays.ts';
import { SIMULATIONS, type Simulation } from './simulations.ts';

/** A broken rule ends with the first violation. */
const MOST_TRACES = 1_000;

const say = (text: string) => void process.stdout.write(`${text}\n`);

async function checkTypes(file: string): Promise<string[]> {
  const errors = await typeErrors(join(SPEC, file));
  return errors === null ? [] : [`${file}: ${errors}`];
}

async function checkSimulation(simulation: Simulation): Promise<string[]> {
  const { file, main, step, invariants, situations, traces } = simulation;
  const { violated, reached } = await simulate(join(SPEC, file), simulation, traces);
  const missed = situations.filter((name) => (reached.get(name) ?? 0) === 0);
  const counts = [...reached].map(([name, count]) => `${name} ${count}`).join(', ');
  say(`${main}, ${step}: ${traces} traces, ${invariants.length} invariants; reached: ${counts}`);
  return [
    ...violated.map((name) => `${main}, ${step}: ${name} is violated`),
    ...(violated.length > 0 ? [] : missed.map((name) => `${main}, ${step}: no trace reaches ${name}`)),
  ];
}

async function checkBrokenRule({ rule, simulation, invariant, change }: BrokenRule): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'belay-spec-'));
  try {
    const path = join(folder, change.file);
    await writeFile(path, changed(await readFile(join(SPEC, change.file), 'utf8'), change));
    const { violated } = await simulate(path, { ...simulation, invariants: [invariant], situations: [] }, MOST_TRACES);
    say(`${violated.length > 0 ? 'violated' : 'SURVIVED'}: ${invariant}, without: ${rule}`);
    return violated.length > 0 ? [] : [`${invariant} does not notice that this is broken: ${rule}`];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Every invariant needs a module that violates it. */
function unbroken(): string[] {
  const broken = new Set(BROKEN_RULES.map(({ invariant }) => invariant));
  const all = new Set(SIMULATIONS.flatMap(({ invariants }) => invariants));
  return [...all].filter((name) => !broken.has(name)).map((name) => `no broken rule violates ${name}`);
}

installQuint();
const files = [...new Set(SIMULATIONS.map(({ file }) => file))];
const checks = [
  ...files.map((file) => () => checkTypes(file)),
  ...REPLAYS.map((replay) => () => checkReplay(replay, say)),
  ...SIMULATIONS.map((simulation) => () => checkSimulation(simulation)),
  ...BROKEN_RULES.map((rule) => () => checkBrokenRule(rule)),
];
const problems = [
  ...unbroken(),
  ...(await pMap(checks, (check) => check(), { concurrency: availableParallelism() })).flat(),
];
for (const problem of problems) say(problem);
process.exitCode = problems.length === 0 ? 0 : 1;
