/**
 * `npm run bench [-- <part> …] [--quick] [--out <folder>]`: runs the parts of the benchmark one after another, or those
 * that are named. A single part also gets options of its own, such as `in-flight --counts 100,400`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { isPart, minutesOf, PARTS, type PartName } from './parts.ts';
import { parseOptions, type Options } from './report/options.ts';

const ALL = Object.keys(PARTS) as PartName[];

const { isQuick, folder, given, positionals } = options();
const unknown = positionals.filter((name) => !isPart(name));
if (unknown.length > 0) fail(`there is no part ${unknown.join(', ')}: choose from ${ALL.join(', ')}`);
const planned = positionals.length > 0 ? ALL.filter((name) => positionals.includes(name)) : partsOfAll();
if (Object.keys(given).length > 0 && planned.length !== 1) {
  fail(`--${Object.keys(given).join(', --')}: name the one part that this is for`);
}
const minutes = planned.map((name) => minutesOf(name, isQuick) ?? PARTS[name].minutes);
const list = planned.map((name, index) => `${name} ${minutes[index]}`).join(', ');
process.stdout.write(`Planned: at most ${Math.ceil(minutes.reduce((sum, it) => sum + it, 0))} minutes (${list}).\n`);

const failed: PartName[] = [];
for (const name of planned) if (!(await run(name))) failed.push(name);
if (failed.length > 0) fail(`failed: ${failed.join(', ')}`);

function options(): Options {
  const own = [...new Set(ALL.flatMap((name) => [...PARTS[name].options]))];
  try {
    return parseOptions(process.argv.slice(2), own, true);
  } catch (error) {
    return fail((error as Error).message);
  }
}

/** A part that is named runs, also where `--quick` would leave it out. */
function partsOfAll(): PartName[] {
  return ALL.filter((name) => minutesOf(name, isQuick) !== null);
}

/** @returns whether it succeeded */
async function run(name: PartName): Promise<boolean> {
  process.stdout.write(`\n# ${name}\n\n`);
  const file = fileURLToPath(new URL(`./${name}.ts`, import.meta.url));
  const options = [
    ...(isQuick ? ['--quick'] : []),
    `--out=${folder}`,
    ...Object.entries(given).map(([option, value]) => `--${option}=${value}`),
  ];
  const child = spawn(process.execPath, [...process.execArgv, file, ...options], { stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code === 0;
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
