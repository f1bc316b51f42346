/**
 * `npm run bench [-- <part> …] [--quick] [--minutes <n>] [--out <folder>]`: runs the parts of the benchmark one after
 * another, or those that are named. A single part also gets options of its own, such as `in-flight --counts 100,400`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import {
  isPart,
  isQuickPart,
  MINUTES_OF_ALL,
  minutesOf,
  minutesOfAll,
  PARTS,
  shareOfFirst,
  type PartName,
} from './parts.ts';
import { parseOptions, type Options } from './report/options.ts';

const ALL = Object.keys(PARTS) as PartName[];
const MINUTE_MS = 60_000;

const startedMs = Date.now();
const { isQuick, minutes: asked, folder, given, positionals } = options();
const unknown = positionals.filter((name) => !isPart(name));
if (unknown.length > 0) fail(`there is no part ${unknown.join(', ')}: choose from ${ALL.join(', ')}`);
const planned = positionals.length > 0 ? ALL.filter((name) => positionals.includes(name)) : partsOfAll();
if (Object.keys(given).length > 0 && planned.length !== 1) {
  fail(`--${Object.keys(given).join(', --')}: name the one part that this is for`);
}
const limitMinutes = asked ?? minutesAtMost();
const list = planned.map((name) => `${name} ${minutesOf(name, isQuick)}`).join(', ');
process.stdout.write(`At most ${Math.ceil(limitMinutes)} minutes. Planned: ${list}.\n`);

const failed: PartName[] = [];
for (const [index, name] of planned.entries()) {
  const leftMinutes = limitMinutes - (Date.now() - startedMs) / MINUTE_MS;
  // What a part took too long is missing for those that are left, and what it did not need is theirs.
  const ownMinutes = shareOfFirst(planned.slice(index), isQuick, leftMinutes);
  if (leftMinutes <= 0) process.stdout.write(`\nThe time was over before ${name}.\n`);
  else if (!(await run(name, ownMinutes))) failed.push(name);
}
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
  return ALL.filter((name) => !isQuick || isQuickPart(name));
}

function minutesAtMost(): number {
  if (positionals.length > 0) return minutesOfAll(planned, isQuick);
  return isQuick ? MINUTES_OF_ALL.quick : MINUTES_OF_ALL.full;
}

/** @returns whether it succeeded */
async function run(name: PartName, minutes: number): Promise<boolean> {
  process.stdout.write(`\n# ${name}\n\n`);
  const file = fileURLToPath(new URL(`./${name}.ts`, import.meta.url));
  const options = [
    ...(isQuick ? ['--quick'] : []),
    `--minutes=${minutes}`,
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
