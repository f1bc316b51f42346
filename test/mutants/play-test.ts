/** Runs tests of one file in a copy of the project, and reports how they ended. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** A broken rule may leave a test waiting. Longer than `eventually` waits, which names what was not seen. */
const TEST_TIMEOUT_MS = 240_000;

export interface Ended {
  passed: boolean;
  /** The first error; empty if there is none. */
  error: string;
}

/** @param names parts of the names of tests. @returns how each ended, or null if no test has that name */
export async function playTests(folder: string, file: string, names: readonly string[]): Promise<(Ended | null)[]> {
  const patterns = names.map((name) => `--test-name-pattern=${name.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&')}`);
  const node = [
    '--import',
    './tools/typescript.js',
    '--test',
    '--test-reporter=tap',
    `--test-timeout=${TEST_TIMEOUT_MS}`,
    ...patterns,
  ];
  const child = spawn(process.execPath, [...node, `test/${file}`], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let report = '';
  child.stdout.on('data', (data: Buffer) => void (report += data.toString()));
  await once(child, 'close');
  return names.map((name) => endOf(report, name));
}

function endOf(report: string, name: string): Ended | null {
  const lines = report.split('\n');
  const ends = lines.flatMap((line, index) => {
    const [, not, found] = /^\s*(not )?ok \d+ - (.*)$/.exec(line) ?? [];
    if (found?.replaceAll('\\#', '#').includes(name) !== true || found.includes('# SKIP')) return [];
    return [{ passed: not === undefined, error: not === undefined ? '' : errorAfter(lines, index) }];
  });
  return ends.find(({ passed }) => !passed) ?? ends[0] ?? endOfAll(lines);
}

/** The time limit ends the whole file, and its report then names no test. */
function endOfAll(lines: readonly string[]): Ended | null {
  const error = lines.map((line) => /^ {2}error: '(test timed out after \d+ms)'/.exec(line)?.[1]).find(Boolean);
  return error === undefined ? null : { passed: false, error };
}

function errorAfter(lines: readonly string[], index: number): string {
  const at = lines.findIndex((line, later) => later > index && /^\s*error: /.test(line));
  const [first = '', ...more] = lines.slice(at, at + 6).map((line) => line.trim());
  const text = first.replace(/^error: /, '');
  return (text.startsWith('|') ? more.join(' ') : text).replace(/\s+/g, ' ').slice(0, 120);
}
