/**
 * `node --import ./tools/typescript.js test/run.ts [unit] [integration] [e2e] [repository] [sim] [package]`: runs
 * the tests of these folders. Without arguments, it runs all but those of the package, which download what the package
 * depends on. The longest files start first, and integration tests share one Temporal server.
 */
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { relative } from 'node:path';
import { run } from 'node:test';
import { spec, tap } from 'node:test/reporters';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { endAll } from './support/at-end.ts';
import { killDescendants } from './support/process-tree.ts';
import { startSharedTemporal } from './support/shared-temporal.ts';
import { PROFILES, replacementFor } from './support/timing/substitute.ts';
import { bundleFromSource } from '../src/worker/bundle/bundle-from-source.ts';

const ALL = ['sim', 'integration', 'e2e', 'repository', 'unit'] as const;
const KINDS = [...ALL, 'package'] as const;
type Kind = (typeof KINDS)[number];

/** One process for all of these: each takes milliseconds. */
const UNIT_TESTS = '../tools/unit-tests.ts';

/** Those that take long; what is not listed starts after them. */
const LONGEST = [
  'e2e/outages',
  'e2e/stacks',
  'e2e/commands',
  'integration/runs',
  'integration/workers',
  'integration/temporal',
  'integration/events',
  'e2e/cloud',
  'integration/production-timings',
  'integration/services',
  'integration/rollouts',
  'sim/rules',
  'e2e/traces',
  'integration/starvation',
  UNIT_TESTS,
  'integration/http',
  'repository/files',
  'integration/schedules',
  'sim/sim',
  'integration/histories',
  'sim/parts',
];

/** Only keep a test that hangs from taking the whole run with it; a busy machine stays far below. */
const FILE_LIMIT_MS = 20 * 60_000;
const WHOLE_LIMIT_MS = 60 * 60_000;
const END_LIMIT_MS = 60_000;

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));

function filesOf(kind: Kind): string[] {
  if (kind === 'unit') return [UNIT_TESTS];
  const names = readdirSync(new URL(`./${kind}/`, import.meta.url)).filter((name) => name.endsWith('.test.ts'));
  return names.sort().map((name) => `${kind}/${name}`);
}

function rank(file: string): number {
  const index = LONGEST.indexOf(file.replace(/\.test\.ts$/, ''));
  return index === -1 ? LONGEST.length : index;
}

/** What to change in the list above, if it no longer has the right order. */
function longestText(): string {
  const longest = tookMs.sort(([, a], [, b]) => b - a).slice(0, LONGEST.length);
  return longest.map(([file, ms]) => `# ${Math.round(ms / 1_000)} s ${relative(path('.'), file)}\n`).join('');
}

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !KINDS.some((kind) => kind === name));
if (unknown.length > 0) throw new Error(`no such tests: ${unknown.join(', ')}; there are ${KINDS.join(', ')}`);
const kinds: readonly Kind[] = wanted.length === 0 ? ALL : KINDS.filter((kind) => wanted.includes(kind));

if (kinds.some((kind) => kind !== 'unit')) await import('./support/prepare.ts');
if (kinds.includes('integration')) {
  // Files that start together would each bundle the same workflows.
  for (const profile of PROFILES) await bundleFromSource([replacementFor(profile)]);
}
let finished = false;
const aborted = new AbortController();
if (kinds.includes('integration') || kinds.includes('e2e')) {
  const server = await startSharedTemporal();
  // Otherwise each test would wait for it as long as it can.
  void server.ended.then(() => abort('the Temporal server that the tests share has ended'));
}
setTimeout(() => abort(`the tests are not done after ${WHOLE_LIMIT_MS / 60_000} minutes`), WHOLE_LIMIT_MS).unref();

function abort(reason: string): void {
  if (finished) return;
  process.stderr.write(`# ${reason}\n`);
  // What they started is still theirs: without them, nobody would end it.
  killDescendants(process.pid);
  aborted.abort();
}

const files: string[] = kinds.flatMap(filesOf).sort((a, b) => rank(a) - rank(b));
const stream = run({
  files: files.map(path),
  // Most tests wait most of the time.
  concurrency: availableParallelism() + 4,
  timeout: FILE_LIMIT_MS,
  signal: aborted.signal,
});
const failures: string[] = [];
stream.on('test:fail', ({ name, file, details: { error } }) => {
  process.exitCode = 1;
  const { failureType, cause } = error as Error & { failureType?: string };
  // The test that failed within is listed by itself.
  if (failureType === 'subtestsFailed') return;
  const where = file === undefined ? '' : `${relative(path('.'), file)}: `;
  failures.push(`Failed: ${where}${name}\n${inspect(cause)}`.replaceAll(/^/gm, '# '), '\n');
});
const tookMs: [file: string, ms: number][] = [];
stream.on('test:complete', ({ nesting, name, details }) => {
  if (nesting === 0 && files.some((file) => path(file) === name)) tookMs.push([name, details.duration_ms]);
});
const report = stream.compose(process.stdout.isTTY ? new spec() : tap) as AsyncIterable<string | Buffer>;
for await (const text of report) process.stdout.write(text);
finished = true;
process.stdout.write(longestText());
// A log may show only its end.
process.stdout.write(failures.join(''));
await Promise.race([endAll(), sleep(END_LIMIT_MS)]);
// A file that exceeded its limit may have ignored its signal, and left processes.
killDescendants(process.pid);
process.exit();
