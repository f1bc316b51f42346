/** Builds the Temporal server from its published Go module, whose version is pinned in tools/temporal. */
import { spawn } from 'node:child_process';
import { mkdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createLiveLines } from '../process/live-lines.ts';
import { printTo } from '../process/print.ts';
import { TIMING } from '../contract/timing.ts';

const MODULE_FOLDER = fileURLToPath(new URL('../../tools/temporal', import.meta.url));
const PACKAGE = 'github.com/temporalio/cli/cmd/temporal';
/** An estimate for the progress line; a build with warm caches compiles fewer. */
const PACKAGES_ABOUT = 1_300;

export type BuildProgress = { step: 'fetching' | 'compiling'; done: number };

/** The version in tools/temporal/go.mod, such as `v1.5.1`. */
export async function pinnedVersion(): Promise<string> {
  const goMod = await readFile(join(MODULE_FOLDER, 'go.mod'), 'utf8');
  const version = /github\.com\/temporalio\/cli (v\S+)/.exec(goMod)?.[1];
  if (version === undefined) throw new Error('tools/temporal/go.mod does not require github.com/temporalio/cli');
  return version;
}

/** @returns the size of the program in bytes. @throws Error with the last lines of the build's output */
export async function buildWithGo(
  output: string,
  env: NodeJS.ProcessEnv,
  onProgress: (progress: BuildProgress) => void,
): Promise<number> {
  const unfinished = `${output}.${process.pid}.building`;
  await mkdir(join(output, '..'), { recursive: true });
  try {
    const args = ['build', '-v', '-trimpath', '-buildvcs=false', '-ldflags', '-s -w', '-o', unfinished, PACKAGE];
    await runGo(args, env, onProgress);
    await rename(unfinished, output);
  } finally {
    await rm(unfinished, { force: true });
  }
  return (await stat(output)).size;
}

async function runGo(args: string[], env: NodeJS.ProcessEnv, onProgress: (it: BuildProgress) => void): Promise<void> {
  const go = spawn('go', args, { cwd: MODULE_FOLDER, env, stdio: ['ignore', 'ignore', 'pipe'] });
  const done = { fetching: 0, compiling: 0 };
  const lastLines: string[] = [];
  createInterface({ input: go.stderr }).on('line', (line) => {
    const step = stepOf(line);
    if (step !== null) onProgress({ step, done: (done[step] += 1) });
    else lastLines.push(line);
  });
  const code = await new Promise<number | string>((resolve, reject) => {
    go.once('error', reject);
    go.once('close', (exit, signal) => resolve(exit ?? signal ?? 'unknown'));
  });
  if (code !== 0) throw new Error(`go build failed with ${code}: ${lastLines.slice(-5).join(' / ')}`);
}

/** @returns null for a line that is no progress */
function stepOf(line: string): BuildProgress['step'] | null {
  if (line.startsWith('go: downloading ')) return 'fetching';
  return /^[\w.-]+(\/\S+)*$/.test(line) ? 'compiling' : null;
}

/* Shows the progress of the Temporal server's build: one live line on a terminal, otherwise a line now and then. */

export function showBuild(stream: NodeJS.WriteStream): { show(progress: BuildProgress): void; end(): void } {
  const terminal = stream.isTTY ? createLiveLines(stream) : null;
  let loggedMs = Date.now();
  return {
    show(progress) {
      if (terminal !== null) return terminal.draw([buildLine(progress)]);
      if (Date.now() - loggedMs < TIMING.dev.buildProgressMs) return;
      printTo(stream, [buildLine(progress)]);
      loggedMs = Date.now();
    },
    end: () => terminal?.clear(),
  };
}

function buildLine({ step, done }: BuildProgress): string {
  if (step === 'fetching') return `  fetching sources: ${done} modules`;
  return `  compiling: ${done} of about ${PACKAGES_ABOUT} packages`;
}
