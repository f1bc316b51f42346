/** Plays seeds with a copy of the sources until one is noticed. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Seeds are played in parts, each twice as long as the one before: a rule whose break shows at once costs little. */
const FIRST_PART = 20;
const run = promisify(execFile);

/**
 * @param folder of the copy
 * @returns what was found first, with its seed, or null
 */
export async function firstFinding(folder: string, seeds: number): Promise<string | null> {
  for (let from = 1, size = FIRST_PART; from <= seeds; from += size, size *= 2) {
    const part = ['--from', String(from), '--seeds', String(Math.min(size, seeds - from + 1))];
    const args = ['--import', './tools/typescript.js', 'test/sim/run.ts', ...part, '--no-shrink'];
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
