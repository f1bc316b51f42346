/**
 * Proves that the simulator notices broken rules. It breaks one rule at a time in a copy of the sources
 * and plays seeds with it. `node --import ./tools/typescript.js test/sim/mutants/mutations.ts [--seeds N] [--only TEXT]`
 */
import { execFile } from 'node:child_process';
import { parseArgs, promisify } from 'node:util';
import { withBrokenCopy } from '../../mutants/broken-copy.ts';
import { MUTANTS } from './mutants.ts';

const { values } = parseArgs({
  options: { seeds: { type: 'string', default: '300' }, only: { type: 'string', default: '' } },
});

/** Seeds are played in parts, so that a rule whose break shows at once costs little. */
const PART = 20;
const run = promisify(execFile);

/** @returns what was found first, with its seed, or null */
async function firstFinding(folder: string): Promise<string | null> {
  for (let from = 1; from <= Number(values.seeds); from += PART) {
    const args = [
      '--import',
      './tools/typescript.js',
      'test/sim/run.ts',
      '--from',
      String(from),
      '--seeds',
      String(PART),
      '--no-shrink',
    ];
    const output = await run(process.execPath, args, { cwd: folder }).then(
      () => null,
      (error: { stdout?: string }) => error.stdout ?? '',
    );
    if (output !== null) return bySeed(output)[0] ?? `no seed: ${output.slice(-200)}`;
  }
  return null;
}

const bySeed = (output: string): string[] =>
  output
    .split('\n')
    .filter((line) => line.startsWith('seed '))
    .sort((a, b) => Number(/\d+/.exec(a)) - Number(/\d+/.exec(b)));

let missed = 0;
process.stdout.write('| rule broken | found first |\n| --- | --- |\n');
for (const { rule, changes } of MUTANTS.filter((mutant) => mutant.rule.includes(values.only))) {
  const found = await withBrokenCopy(changes, firstFinding);
  missed += found === null ? 1 : 0;
  process.stdout.write(`| ${rule} | ${found?.slice(0, 160) ?? `NOTHING in ${values.seeds} seeds`} |\n`);
}
process.exitCode = missed === 0 ? 0 : 1;
