/**
 * Proves that the simulator notices broken rules. It breaks one rule at a time in a copy of the sources
 * and plays seeds with it. `node --import ./tools/typescript.js test/sim/mutants/mutations.ts [--seeds N] [--only TEXT]`
 * takes the rules of `mutants.ts`, and `--flips N [--draw S]` flips N operators of the pure rules instead, one by one.
 */
import { parseArgs } from 'node:util';
import { withBrokenCopy } from '../../mutants/broken-copy.ts';
import { firstFinding } from './first-finding.ts';
import { flippedOperators } from './flips.ts';
import { MUTANTS } from './mutants.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '300' },
    only: { type: 'string', default: '' },
    flips: { type: 'string' },
    draw: { type: 'string', default: '1' },
  },
});

const all = values.flips === undefined ? MUTANTS : flippedOperators(Number(values.flips), Number(values.draw));
const mutants = all.filter(({ rule }) => rule.includes(values.only));

let missed = 0;
process.stdout.write('| rule broken | found first |\n| --- | --- |\n');
for (const { rule, changes } of mutants) {
  const found = await withBrokenCopy(changes, (folder) => firstFinding(folder, Number(values.seeds)));
  missed += found === null ? 1 : 0;
  process.stdout.write(`| ${rule} | ${found?.slice(0, 160) ?? `NOTHING in ${values.seeds} seeds`} |\n`);
}
process.stdout.write(`${mutants.length - missed} of ${mutants.length} noticed\n`);
process.exitCode = missed === 0 ? 0 : 1;
