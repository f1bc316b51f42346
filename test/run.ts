/**
 * `npm test [-- PART …]` and `npm run test:all [-- PART …]`: runs the parts of runner/parts.ts, or those whose names
 * contain a text, and prints what each took. Exits 1 if a test failed, and 75 if `test:all` left something out.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { relative } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import pMap from 'p-map';
import { forgottenCases } from './runner/cases.ts';
import type { Message } from './runner/reporter.ts';
import { filesOf, QUICK, SCRIPTS, SLOW, testFiles, type Group, type Script } from './runner/parts.ts';
import { endAll } from './support/at-end.ts';
import { EXIT_MISSING } from './support/missing-program.ts';
import { usedByTree } from '../bench/processes.ts';
import { killDescendants } from './support/process-tree.ts';

/** Only ends what hangs: so long no test of a process has ended. A busy machine stays far below. */
const SILENCE_MS = 25 * 60_000;
const SAMPLE_MS = 4_000;
/** Of a group. Each suite with a stack of its own takes one. */
const NAMESPACES = 5;

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const TYPESCRIPT = new URL('../tools/typescript.js', import.meta.url).href;
const GROUP = fileURLToPath(new URL('runner/group.ts', import.meta.url));
const REPORTER = fileURLToPath(new URL('runner/reporter.ts', import.meta.url));

type Ended = Extract<Message, { type: 'pass' | 'fail' }>;

interface Result {
  name: string;
  /** The names of the tests that passed, and of all that ran. */
  passed: string[];
  ran: string[];
  failures: string[];
  /** Of a suite that failed as a whole, or of a process that ended early. */
  cancelled: string[];
  /** What was left out, and why. */
  omitted: string[];
  tookMs: number;
  cpuMs: number | null;
}

const newResult = (name: string): Result => ({
  ...{ name, passed: [], ran: [], failures: [], cancelled: [], omitted: [] },
  ...{ tookMs: 0, cpuMs: null },
});

const say = (text: string) => void process.stdout.write(`${text}\n`);
const seconds = (ms: number) => `${Math.round(ms / 1_000)} s`;

/** By a process and all that it started; null where there is no /proc. */
const used = (pid = process.pid) => (process.platform === 'linux' ? usedByTree(pid) : null);

/** Runs the files of a group in one process, which reports each test. */
async function runGroup(group: Group): Promise<Result> {
  const beganMs = Date.now();
  const result = newResult(group.name);
  const node = ['--enable-source-maps', '--import', TYPESCRIPT, '--test-reporter', REPORTER, GROUP];
  const files = filesOf(group);
  const child = spawn(process.execPath, [...node, ...files], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const printed = collect(child);
  let [newest, newestMs] = ['its start', Date.now()];
  const watch = setInterval(() => {
    if (Date.now() - newestMs < SILENCE_MS) return;
    result.failures.push(`${group.name}\n  no test has ended for ${SILENCE_MS / 60_000} minutes, since ${newest}`);
    newestMs = Infinity;
    killDescendants(child.pid!);
    child.kill('SIGKILL');
  }, SAMPLE_MS);
  const path: string[] = [];
  let hasEnded = false;
  const missing = new Set(files);
  child.on('message', (message: Message) => {
    if (message.type === 'end') {
      hasEnded = true;
      result.cpuMs = message.cpuMs;
      return;
    }
    if (message.type === 'late') {
      result.failures.push(`${group.name}\n  ${message.error}`);
    } else if (message.type === 'complete') {
      [newest, newestMs] = [message.name, Date.now()];
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
  if (result.cancelled.length > 0 && result.failures.length === 0) {
    result.failures.push(`${group.name}\n  never ended: ${result.cancelled.join(', ')}`);
  }
  // An error outside of a test has no other trace than the exit code.
  if ((!hasEnded || code !== 0) && result.failures.length === 0) {
    const when = hasEnded ? 'after its last test' : `before its last test, after ${newest}`;
    result.failures.push(`${group.name}\n  ended with ${signal ?? code} ${when}; it printed:\n${printed()}`);
  }
  if (hasEnded) result.failures.push(...[...missing].map((file) => `${relative(ROOT, file)}\n  has no test`));
  result.tookMs = Date.now() - beganMs;
  return result;
}

function note(result: Result, message: Ended, within: string[]): void {
  const { name, file, line, isSuite } = message;
  if (message.type === 'pass') {
    const { skip } = message;
    if (skip !== null && skip !== false) result.omitted.push(`${name}: ${skip === true ? 'skipped' : skip}`);
    else if (!isSuite) result.passed.push(name);
  } else if (message.isCancelled) {
    result.cancelled.push(name);
  } else {
    const where = file === null ? '' : `${relative(ROOT, file)}:${line}\n  `;
    // The outermost suite is the file.
    const path = [...within, name].filter((it) => !it.endsWith('.test.ts')).join(' > ') || name;
    result.failures.push(`${where}${path}\n${message.error.replaceAll(/^/gm, '    ')}`);
  }
  if (!isSuite) result.ran.push(name);
}

/** @returns the end of what it has printed so far */
function collect({ stdout, stderr }: ChildProcess): () => string {
  let text = '';
  for (const stream of [stdout, stderr]) stream?.on('data', (data) => (text = `${text}${String(data)}`.slice(-20_000)));
  return () => text.trim();
}

async function runScript({ name, args }: Script): Promise<Result> {
  const beganMs = Date.now();
  const result = newResult(name);
  say(`\n${name}: node --import ./tools/typescript.js ${args.join(' ')}`);
  const child = spawn(process.execPath, ['--import', TYPESCRIPT, ...args], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const printed = collect(child);
  child.stdout.pipe(process.stdout, { end: false });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code === 0) result.passed.push(name);
  else if (code === EXIT_MISSING) result.omitted.push(`${name}: ${printed().split('\n').at(-1)}`);
  else result.failures.push(`${name}\n  exited with ${code}: node --import ./tools/typescript.js ${args.join(' ')}`);
  result.tookMs = Date.now() - beganMs;
  return result;
}

/** A file that no part runs would be dropped in silence. */
function unlisted(): string[] {
  const listed = new Set([...QUICK, ...SLOW].flatMap(filesOf).map((file) => relative(`${ROOT}test`, file)));
  // A script runs those of the UI.
  return testFiles().filter((file) => !listed.has(file) && !file.startsWith('ui/'));
}

function omittedOn(platform: string, group: Group): string | null {
  return group.onLinux === true && platform !== 'linux'
    ? `${group.name}: its tests read /proc, which only Linux has`
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
  const failures = unlisted().map((file) => `test/${file}\n  no part runs it: see test/runner/parts.ts`);
  const omitted = groups.flatMap((group) => omittedOn(process.platform, group) ?? []);
  const possible = groups.filter((group) => omittedOn(process.platform, group) === null);
  const { prepare } = await import('./support/prepare.ts');
  const server = await prepare(NAMESPACES * possible.filter((group) => group.withoutTemporal !== true).length);
  // Otherwise each test would wait for it as long as it can.
  let isOver = false;
  void server?.ended.then(() => {
    if (isOver) return;
    failures.push('the Temporal server that the tests share has ended');
    killDescendants(process.pid);
  });
  let memoryMb = 0;
  const sample = setInterval(() => (memoryMb = Math.max(memoryMb, used()?.memoryMb ?? 0)), SAMPLE_MS);
  const report = (result: Result) => {
    const { name, ran, passed, tookMs, cpuMs } = result;
    const cpu = cpuMs === null ? '' : `${seconds(cpuMs)} of CPU`.padStart(14);
    const count = ran.length === 0 ? ''.padStart(11) : `${String(passed.length).padStart(5)} tests`;
    say(`${name.padEnd(32)}${count}${seconds(tookMs).padStart(7)}${cpu}`);
    failures.push(...result.failures);
    omitted.push(...result.omitted);
    return result;
  };
  // Most tests wait most of the time.
  const concurrency = availableParallelism() + 1;
  say(`${possible.length + scripts.length} parts, ${concurrency} at a time. Each is listed when it ends.`);
  const results = await pMap(possible, async (group) => report(await runGroup(group)), { concurrency });
  for (const script of scripts) results.push(report(await runScript(script)));
  clearInterval(sample);
  isOver = true;
  const ofServer = server === null ? null : used(server.pid);
  if (ofServer !== null) say(`${'Temporal server'.padEnd(51)}${`${seconds(ofServer.cpuMs)} of CPU`.padStart(14)}`);
  await endAll();
  const passed = results.flatMap((result) => result.passed);
  if (isAll && wanted.length === 0 && failures.length + omitted.length === 0) failures.push(...forgottenCases(passed));
  return summary({ passed: passed.length, tookMs: Date.now() - beganMs, memoryMb, failures, omitted, isAll });
}

interface Figures {
  passed: number;
  tookMs: number;
  memoryMb: number;
  failures: string[];
  omitted: string[];
  isAll: boolean;
}

/** The failures come last: a log may show only its end. */
function summary({ passed, tookMs, memoryMb, failures, omitted, isAll }: Figures): number {
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
  for (const failure of failures) say(`\nFailed: ${failure}`);
  if (failed > 0) return 1;
  return isAll && omitted.length > 0 ? EXIT_MISSING : 0;
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    killDescendants(process.pid);
    process.exit(1);
  });
}
// What a test left behind would keep this process up.
process.exit(await main(process.argv.slice(2)));
