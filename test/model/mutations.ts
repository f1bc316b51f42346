/**
 * Proves that the model detects broken rules. It breaks one rule at a time in a copy of the sources and plays draws
 * against the worker built from it. `node --import ./tools/typescript.js test/model/mutations.ts [--draws N] [--seed S] [--only TEXT]`
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build, withBrokenCopy } from '../mutants/broken-copy.ts';
import { drawBatch } from './batch.ts';
import { MUTANTS, type ModelMutant } from './mutants.ts';
import { playBatch } from './play-batch.ts';

// Exits explicitly, so that no worker is left behind.
process.once('SIGTERM', () => process.exit(143));

const { values } = parseArgs({
  options: {
    draws: { type: 'string', default: '60' },
    size: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
  },
});

async function notice(mutant: ModelMutant): Promise<string> {
  return withBrokenCopy(mutant.changes, async (folder) => {
    await build(folder);
    const size = Number(values.size);
    for (let played = 0, seed = Number(values.seed); played < Number(values.draws); played += size, seed += 1) {
      const batch = drawBatch({ seed, size, mix: { spreadMs: 4_000, cancel: 0, ...mutant.mix }, calm: true });
      const draws = await playBatch(batch, join(folder, 'dist/cli.js'));
      const found = draws.filter(({ violations }) => violations.length > 0);
      const first = found[0];
      if (first === undefined) continue;
      const invariants = new Set(found.flatMap(({ violations }) => violations.map((text) => text.slice(0, 2))));
      const by = [...invariants].sort().join(', ');
      return `| ${mutant.rule} | ${played + first.index + 1} | ${by} | ${first.violations[0]!.slice(0, 200)} |`;
    }
    return `| ${mutant.rule} | NOT DETECTED in ${values.draws} | | |`;
  });
}

let missed = 0;
process.stdout.write('| rule broken | detected at draw | by | first violation |\n| --- | --- | --- | --- |\n');
for (const mutant of MUTANTS.filter(({ rule }) => rule.includes(values.only))) {
  const row = await notice(mutant);
  missed += row.includes('NOT DETECTED') ? 1 : 0;
  process.stdout.write(`${row}\n`);
}
process.exit(missed === 0 ? 0 : 1);
