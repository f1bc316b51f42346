/** A copy of the project in which a rule is broken. The real tree never changes. */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { changed, type Change } from './mutant.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const COPIED = ['src', 'test', 'tools', 'package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'];
const run = promisify(execFile);

/** @param use gets the folder of the copy, which is removed afterwards */
export async function withBrokenCopy<T>(changes: readonly Change[], use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'belay-mutant-'));
  try {
    for (const name of COPIED) await cp(join(ROOT, name), join(folder, name), { recursive: true });
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    for (const change of changes) {
      const path = join(folder, change.file);
      await writeFile(path, changed(await readFile(path, 'utf8'), change));
    }
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Fills the copy's `dist/`. */
export async function build(folder: string): Promise<void> {
  // Code left unused by a broken rule is not an error here.
  const tsc = ['-p', 'tsconfig.build.json', '--noCheck', '--declaration', 'false'];
  await run(join(ROOT, 'node_modules/.bin/tsc'), tsc, { cwd: folder });
  await run(process.execPath, ['tools/bundle-workflows.js'], { cwd: folder });
  const stamp = "const stamp = await import('./tools/dist-stamp.ts'); stamp.writeStamp(stamp.distHash());";
  await run(process.execPath, ['--import', './tools/typescript.js', '--input-type', 'module', '--eval', stamp], {
    cwd: folder,
  });
}
