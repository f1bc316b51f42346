/**
 * `npm test [-- PART …]` and `npm run test:all [-- PART …]`: runs the parts of runner/parts.ts, or those whose names
 * contain a text, and prints what each took. Exits 1 if a test failed, and 75 if `test:all` left something out.
 */
import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pMap from 'p-map';
import type { Message, Place } from './runner/reporter.ts';
import { filesOf, QUICK, runsFile, SCRIPTS, SLOW, FILES, type Group, type Script } from './runner/parts.ts';
import { endAll } from './support/at-end.ts';
import { EXIT_MISSING } from './support/missing-program.ts';
import { usedByTree } from '../bench/processes.ts';

/** Only ends what hangs: so long no test of a process has begun or ended. A busy machine stays far below. */
const SILENCE_MS = 15 * 60_000;
const SAMPLE_MS = 4_000;
/** Of a group. Each suite with a stack of its own takes one. */
const NAMESPACES = 8;

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TYPESCRIPT = new URL('../tools/typescript.js', import.meta.url).href;
const GROUP = fileURLToPath(new URL('runner/group.ts', import.meta.url));
const REPORTER = fileURLToPath(new URL('runner/reporter.ts', import.meta.url));

type Ended = Extract<Message, { type: 'pass' | 'fail' }>;

interface Result {
  name: string;
  /** How many tests passed. */
  passed: number;
  failures: string[];
  /** What was left out, and why. */
  omitted: string[];
  tookMs: number;
  cpuMs: number | null;
}

const newResult = (name: string): Result => ({
  ...{ name, passed: 0, failures: [], omitted: [] },
  ...{ tookMs: 0, cpuMs: null },
});

const say = (text: string) => void process.stdout.write(`${text}\n`);
const seconds = (ms: number) => `${Math.round(ms / 1_000)} s`;

/** By a process and all that it started; null where there is no /proc. */
const used = (pid = process.pid) => (process.platform === 'linux' ? usedByTree(pid) : null);

/** All that the tests leave in the folder for temporary files. Another user's PostgreSQL keeps its database there. */
const TEMPORARY = mkdtempSync(join(tmpdir(), 'belay-tests-'));
chmodSync(TEMPORARY, 0o711);
process.env.TMPDIR = TEMPORARY;
/** Tests compare text, which a CI runner would have in color. */
process.env.NO_COLOR = '1';
delete process.env.FORCE_COLOR;
/** Of the parts that have ended. */
const failures: string[] = [];
/** Each leads a group of processes, which ends with it, also what it started and left behind. */
const leaders = new Set<ChildProcess>();

function start(node: string[], stdio: SpawnOptions['stdio']): ChildProcess {
  const child = spawn(process.execPath, ['--import', TYPESCRIPT, ...node], { cwd: ROOT, stdio, detached: true });
  leaders.add(child);
  child.once('exit', () => {
    endGroup(child);
    leaders.delete(child);
  });
  return child;
}

function endGroup({ pid }: ChildProcess): void {
  try {
    process.kill(-pid!, 'SIGKILL');
  } catch {
    // All of them have ended.
  }
}

/** Runs the files of a group in one process, which reports each test. */
async function runGroup(group: Group): Promise<Result> {
  const beganMs = Date.now();
  const result = newResult(group.name);
  const files = filesOf(group);
  const child = start(
    ['--enable-source-maps', '--test-reporter', REPORTER, GROUP, ...files],
    ['ignore', 'pipe', 'pipe', 'ipc'],
  );
  const printed = collect(child);
  const inProgress = new Map<string, string>();
  let newestMs = Date.now();
  const watch = setInterval(() => {
    if (Date.now() - newestMs < SILENCE_MS) return;
    newestMs = Infinity;
    result.failures.push(`${group.name}\n  nothing has begun or ended for ${SILENCE_MS / 60_000} minutes`);
    endGroup(child);
  }, SAMPLE_MS);
  const path: string[] = [];
  let hasEnded = false;
  const missing = new Set(files);
  child.on('message', (message: Message) => {
    newestMs = Date.now();
    if (message.type === 'end') {
      hasEnded = true;
      result.cpuMs = message.cpuMs;
    } else if (message.type === 'late') {
      result.failures.push(`${group.name}\n  ${message.error}`);
    } else if (message.type === 'begin') {
      if (message.nesting > 0) inProgress.set(keyOf(message), placed(message));
    } else if (message.type === 'complete') {
      inProgress.delete(keyOf(message));
    } else if (message.type === 'start') {
      path.splice(message.nesting, Infinity, message.name);
    } else {
      note(result, message, path.slice(0, message.nesting));
      // A file that cannot be loaded fails as a suite.
      if (!message.isSuite) missing.delete(ROOT + path[0]);
      if (!message.isSuite && message.file !== null) missing.delete(message.file);
      if (message.type === 'fail') missing.delete(ROOT + message.name);
    }
  });
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  clearInterval(watch);
  if (!hasEnded) {
    const tests = [...inProgress.values()].map((place) => `\n  had not ended: ${place}`).join('');
    result.failures.push(`${group.name}\n  ended early, with ${signal ?? code}${tests}\n  it printed:\n${printed()}`);
  } else if (code !== 0 && result.failures.length === 0) {
    // An error outside of a test has no other trace than the exit code.
    result.failures.push(
      `${group.name}\n  ended with ${signal ?? code} after its last test; it printed:\n${printed()}`,
    );
  } else {
    result.failures.push(...[...missing].map((file) => `${relative(ROOT, file)}\n  has no test`));
  }
  result.tookMs = Date.now() - beganMs;
  return result;
}

const keyOf = ({ file, line, name, nesting }: Place) => `${file}:${line}:${nesting}:${name}`;
const placed = ({ file, line, name }: Place) => (file === null ? name : `${relative(ROOT, file)}:${line} ${name}`);

function note(result: Result, message: Ended, within: string[]): void {
  const { name, isSuite } = message;
  if (message.type === 'pass') {
    const { leftOut } = message;
    if (leftOut === '') result.failures.push(`${placed(message)}\n  is left out, and does not say why`);
    else if (leftOut !== null) result.omitted.push(`${name}: ${leftOut}`);
    else if (!isSuite) result.passed += 1;
    return;
  }
  // The outermost suite is the file.
  const path = [...within, name].filter((it) => !it.endsWith('.test.ts')).join(' > ') || name;
  const where = message.file === null ? '' : `${relative(ROOT, message.file)}:${message.line}\n  `;
  result.failures.push(`${where}${path}\n${message.error.replaceAll(/^/gm, '    ')}`);
}

/** @returns the end of what it has printed so far */
function collect({ stdout, stderr }: ChildProcess): () => string {
  let text = '';
  for (const stream of [stdout, stderr]) stream?.on('data', (data) => (text = `${text}${String(data)}`.slice(-8_000)));
  return () => text.trim();
}

async function runScript({ name, args }: Script): Promise<Result> {
  const beganMs = Date.now();
  const result = newResult(name);
  say(`${name}: node --import ./tools/typescript.js ${args.join(' ')}`);
  // This reporter repeats the failures at its end.
  const child = start(['--test-reporter', 'spec', ...args], ['ignore', 'pipe', 'pipe']);
  const printed = collect(child);
  for (const stream of [child.stdout!, child.stderr!])
    createInterface(stream).on('line', (line) => say(`${name}: ${line}`));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code === 0) result.passed += 1;
  else if (code === EXIT_MISSING) result.omitted.push(`${name}: ${printed().split('\n').at(-1)}`);
  else result.failures.push(`${name}\n  exited with ${code}; it printed:\n${printed()}`);
  result.tookMs = Date.now() - beganMs;
  return result;
}

/** A file that no part runs would be dropped in silence. */
function unlisted(): string[] {
  const listed = new Set([...QUICK, ...SLOW].flatMap(filesOf));
  return FILES.filter((file) => !listed.has(file) && !SCRIPTS.some((script) => runsFile(script, file)));
}

function omittedOn(platform: string, group: Group): string | null {
  return group.onLinux === true && platform !== 'linux'
    ? `${group.name}: its tests follow processes in /proc, which only Linux has`
    : null;
}

/** @param texts names of parts, or parts of names; none for all. @returns null after a message, if one matches nothing */
function namesOf(parts: readonly { name: string }[], texts: readonly string[]): Set<string> | null {
  const all = parts.map(({ name }) => name);
  if (texts.length === 0) return new Set(all);
  const found = texts.map((text) => (all.includes(text) ? [text] : all.filter((name) => name.includes(text))));
  const none = texts.filter((_, index) => found[index]?.length === 0);
  if (none.length === 0) return new Set(found.flat());
  say(`no part is named ${none.join(', ')}: choose from ${all.join(', ')}`);
  return null;
}

async function main(args: string[]): Promise<number> {
  const beganMs = Date.now();
  const isAll = args[0] === '--all';
  const wanted = args.filter((it) => it !== '--all');
  const parts = isAll ? [...QUICK, ...SLOW, ...SCRIPTS] : QUICK;
  const names = namesOf(parts, wanted);
  if (names === null) return 2;
  const isWanted = ({ name }: { name: string }) => names.has(name);
  const groups = (isAll ? [...QUICK, ...SLOW] : QUICK).filter(isWanted);
  const scripts = isAll ? SCRIPTS.filter(isWanted) : [];
  failures.push(...unlisted().map((file) => `${relative(ROOT, file)}\n  no part runs it: see test/runner/parts.ts`));
  const omitted = groups.flatMap((group) => omittedOn(process.platform, group) ?? []);
  let possible = groups.filter((group) => omittedOn(process.platform, group) === null);
  const { build, startServer } = await import('./support/prepare.ts');
  await build();
  const needServer = possible.filter((group) => group.withoutTemporal !== true);
  const server =
    needServer.length === 0
      ? null
      : await startServer(NAMESPACES * needServer.length, needServer.flatMap(filesOf)).catch((error: unknown) => {
          const names = needServer.map(({ name }) => name).join(', ');
          failures.push(`${(error as Error).message}\n  so these parts did not run: ${names}`);
          possible = possible.filter((group) => !needServer.includes(group));
          return null;
        });
  // Otherwise each test would wait for it as long as it can.
  let isOver = false;
  void server?.ended.then(() => {
    if (isOver) return;
    failures.push('the Temporal server that the tests share has ended');
    for (const leader of leaders) endGroup(leader);
  });
  let memoryMb = 0;
  const sample = setInterval(() => (memoryMb = Math.max(memoryMb, used()?.memoryMb ?? 0)), SAMPLE_MS);
  const report = (result: Result) => {
    const { name, passed, tookMs, cpuMs } = result;
    const cpu = (cpuMs === null ? '' : `${seconds(cpuMs)} of CPU`).padStart(14);
    const failed = result.failures.length === 0 ? '' : `   ${result.failures.length} failed: see the end`;
    const count = `${String(passed).padStart(5)} ${passed === 1 ? 'test ' : 'tests'}`;
    say(`${name.padEnd(32)}${count}${seconds(tookMs).padStart(7)}${cpu}${failed}`.trimEnd());
    failures.push(...result.failures);
    omitted.push(...result.omitted);
    return result;
  };
  // Most tests wait most of the time.
  const concurrency = availableParallelism() + 1;
  say(`${possible.length + scripts.length} parts, at most ${concurrency} at a time. Each is listed when it ends.`);
  const results = await pMap(possible, async (group) => report(await runGroup(group)), { concurrency });
  results.push(...(await pMap(scripts, async (script) => report(await runScript(script)), { concurrency: 2 })));
  clearInterval(sample);
  isOver = true;
  const ofServer = server === null ? null : used(server.pid);
  if (ofServer !== null) say(`${'Temporal server'.padEnd(51)}${`${seconds(ofServer.cpuMs)} of CPU`.padStart(14)}`);
  await endAll();
  const passed = results.reduce((sum, result) => sum + result.passed, 0);
  return summary({ passed, tookMs: Date.now() - beganMs, memoryMb, omitted, isAll });
}

interface Figures {
  passed: number;
  tookMs: number;
  memoryMb: number;
  omitted: string[];
  isAll: boolean;
}

const sayFailures = () => failures.forEach((failure) => say(`\nFailed: ${failure}`));

/** The failures come last: a log may show only its end. */
function summary({ passed, tookMs, memoryMb, omitted, isAll }: Figures): number {
  const cpuMs = used()?.cpuMs ?? null;
  const figures = [
    `in ${seconds(tookMs)}`,
    ...(cpuMs === null
      ? []
      : [`with ${seconds(cpuMs)} of CPU`, `at most ${(memoryMb / 1_024).toFixed(1)} GB of memory`]),
  ];
  if (omitted.length > 0) say(`\nLeft out:\n${omitted.map((it) => `  ${it}\n`).join('')}`);
  const failed = failures.length;
  say(`\n${figures.join(', ')}\n${passed} passed, ${failed} failed`);
  sayFailures();
  if (failed > 0) return 1;
  return isAll && omitted.length > 0 ? EXIT_MISSING : 0;
}

process.once('exit', () => {
  for (const leader of leaders) endGroup(leader);
  rmSync(TEMPORARY, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => {
    sayFailures();
    process.exit(1);
  });
}
// What a test left behind would keep this process up.
process.exit(await main(process.argv.slice(2)));
