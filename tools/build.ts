/** `npm run build`: brings dist/ up to date with src/, and leaves nothing in it that has no source. */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DIST, distHash, isDistCurrent, removeStamp, ROOT, writeStamp } from './dist-stamp.ts';

const INCREMENTAL = '.tsbuildinfo';
const OWN_FILES = ['starter.cjs', 'starter.d.cts', 'workflow-bundle.js', '.source-hash', INCREMENTAL];

/** A failed build ends the process. */
export function buildIfStale(): void {
  if (isDistCurrent()) return;
  const hash = distHash();
  // A build that fails or is killed must not pass for a current one.
  removeStamp();
  const expected = outputs();
  // The compiler skips what it wrote before, deleted since or not.
  if (expected.some((file) => !existsSync(join(DIST, file)))) rmSync(join(DIST, INCREMENTAL), { force: true });
  run(createRequire(import.meta.url).resolve('typescript/bin/tsc'), '-p', 'tsconfig.build.json');
  sweep(new Set([...expected, ...OWN_FILES]));
  run('tools/bundle-workflows.js');
  chmodSync(join(DIST, 'cli.js'), 0o755);
  writeStamp(hash);
}

function run(...args: string[]): void {
  const { status } = spawnSync(process.execPath, args, { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

/** What the compiler makes of src/. */
function outputs(): string[] {
  return filesIn(join(ROOT, 'src')).flatMap((file) => {
    const name = file.replace(/\.ts$/, '');
    return [`${name}.js`, `${name}.d.ts`];
  });
}

function sweep(kept: Set<string>): void {
  for (const file of filesIn(DIST)) if (!kept.has(file)) rmSync(join(DIST, file));
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) buildIfStale();
