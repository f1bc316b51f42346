/**
 * Shows that the model notices: breaks one rule after another in a copy of the sources and plays draws against the
 * worker built of it. `node --import tsx test/model/mutations.ts [--draws N] [--seed S] [--only TEXT]`
 */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { drawBatch } from './batch.ts';
import { MUTANTS, type Mutant } from './mutants.ts';
import { playBatch } from './play-batch.ts';

// By way of an exit, so that no worker is left behind.
process.once('SIGTERM', () => process.exit(143));

const { values } = parseArgs({
  options: {
    draws: { type: 'string', default: '60' },
    size: { type: 'string', default: '20' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
  },
});

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const BUILT_FROM = ['src', 'tools', 'package.json', 'tsconfig.json', 'tsconfig.build.json'];
const run = promisify(execFile);

/** The folder of a build in which the rule is broken. The real tree is never touched. */
async function build({ rule, changes }: Mutant): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'belay-mutant-'));
  for (const name of BUILT_FROM) await cp(join(ROOT, name), join(folder, name), { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  for (const { file, from, to } of changes) {
    const text = await readFile(join(folder, file), 'utf8');
    if (text.split(from).length !== 2) throw new Error(`${rule}: ${file} doesn't have this once: ${from}`);
    await writeFile(
      join(folder, file),
      text.replace(from, () => to),
    );
  }
  // What a broken rule leaves unused is no error here.
  const tsc = ['-p', 'tsconfig.build.json', '--noCheck', '--declaration', 'false'];
  await run(join(ROOT, 'node_modules/.bin/tsc'), tsc, { cwd: folder });
  await run(process.execPath, ['tools/bundle-workflows.js'], { cwd: folder });
  return folder;
}

async function notice(mutant: Mutant): Promise<string> {
  const folder = await build(mutant);
  try {
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
    return `| ${mutant.rule} | NOT NOTICED in ${values.draws} | | |`;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

let missed = 0;
process.stdout.write('| rule broken | noticed at draw | by | the first sentence |\n| --- | --- | --- | --- |\n');
for (const mutant of MUTANTS.filter(({ rule }) => rule.includes(values.only))) {
  const row = await notice(mutant);
  missed += row.includes('NOT NOTICED') ? 1 : 0;
  process.stdout.write(`${row}\n`);
}
process.exit(missed === 0 ? 0 : 1);
