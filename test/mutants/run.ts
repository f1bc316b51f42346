/**
 * `npx tsx test/mutants/run.ts [--only TEXT …]`: breaks one rule at a time in a copy of the source, and expects the test
 * that guards it to fail. Each test must pass without the mutant. The mutants of the chaos model are in test/model.
 */
import { parseArgs } from 'node:util';
import { startSharedTemporal } from '../support/shared-temporal.ts';
import { endAll } from '../support/at-end.ts';
import { build, withBrokenCopy } from './broken-copy.ts';
import type { Change, TestedMutant } from './mutant.ts';
import { playTests, type Ended } from './play-test.ts';
import { TESTED_MUTANTS } from './all.ts';

const { values } = parseArgs({ options: { only: { type: 'string', multiple: true, default: [''] } } });

/** These start the built program. */
const NEEDS_BUILD = /^integration\/workers\//;
const NEEDS_TEMPORAL = /^integration\//;

async function play(changes: readonly Change[], file: string, names: readonly string[]): Promise<(Ended | null)[]> {
  return withBrokenCopy(changes, async (folder) => {
    if (NEEDS_BUILD.test(file)) await build(folder);
    return playTests(folder, file, names);
  });
}

const say = (text: string) => void process.stdout.write(text);

/** The tests that do not pass without a mutant, so that their failure would show nothing. */
async function unfitTests(mutants: readonly TestedMutant[]): Promise<Set<string>> {
  const unfit = new Set<string>();
  for (const file of new Set(mutants.map(({ test }) => test.file))) {
    const names = [...new Set(mutants.filter(({ test }) => test.file === file).map(({ test }) => test.name))];
    const ends = await play([], file, names);
    for (const [index, name] of names.entries()) if (ends[index]?.passed !== true) unfit.add(name);
  }
  return unfit;
}

async function verdictOn({ changes, test }: TestedMutant): Promise<string> {
  const [end] = await play(changes, test.file, [test.name]);
  return end?.passed === false ? `caught | ${end.error.replaceAll('|', '/')}` : 'SURVIVED |';
}

const mutants = TESTED_MUTANTS.filter(({ rule, test }) =>
  values.only.some((text) => `${rule} ${test.file}`.includes(text)),
);
if (mutants.some(({ test }) => NEEDS_TEMPORAL.test(test.file))) await startSharedTemporal();
const unfit = await unfitTests(mutants);
let missed = 0;
say('| rule broken | test | verdict | error |\n| --- | --- | --- | --- |\n');
for (const mutant of mutants) {
  const { file, name } = mutant.test;
  const verdict = unfit.has(name) ? 'NO TEST | it does not pass without the mutant' : await verdictOn(mutant);
  missed += verdict.startsWith('caught') ? 0 : 1;
  say(`| ${mutant.rule} | ${file}: ${name} | ${verdict} |\n`);
}
await endAll();
process.exit(missed === 0 ? 0 : 1);
