/**
 * `npm run bench [-- <part> …] [--quick]`: runs the parts of the benchmark one after another, or those that are named. Each
 * part is a program of this folder, and prints what it measured.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

interface Part {
  args?: string[];
  /** Null: left out. */
  quick?: string[] | null;
}

const PARTS: Record<string, Part> = {
  ways: { quick: ['--quick'] },
  'in-flight': { args: ['100', '400', '800'], quick: ['100'] },
  'event-delay': {},
  rollout: {},
  receiver: {},
  'event-flood': { quick: null },
  'cold-restart': { quick: null },
};

const { values, positionals } = parseArgs({ options: { quick: { type: 'boolean' } }, allowPositionals: true });
const unknown = positionals.filter((name) => !(name in PARTS));
if (unknown.length > 0)
  throw new Error(`no such part: ${unknown.join(', ')}; there are ${Object.keys(PARTS).join(', ')}`);
for (const [name, { args = [], quick = args }] of Object.entries(PARTS)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  const given = values.quick === true ? quick : args;
  if (given === null) continue;
  process.stdout.write(`\n# ${name}\n`);
  const file = fileURLToPath(new URL(`./${name}.ts`, import.meta.url));
  const child = spawn(process.execPath, [...process.execArgv, file, ...given], { stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) process.exitCode = 1;
}
