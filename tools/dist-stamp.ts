/** Records which sources dist/ was built from, so that nothing ever runs an older build unnoticed. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sourceHash } from '../src/worker/bundle/bundle-from-source.ts';

export const ROOT = fileURLToPath(new URL('../', import.meta.url));
export const DIST = join(ROOT, 'dist');

const STAMP = join(DIST, '.source-hash');
const BUILT_FROM = [
  'src',
  'tools/build.ts',
  'tools/bundle-workflows.js',
  'tsconfig.json',
  'tsconfig.build.json',
  'package-lock.json',
];

export const distHash = () => sourceHash(ROOT, BUILT_FROM);
export const isDistCurrent = () => existsSync(STAMP) && readFileSync(STAMP, 'utf8') === distHash();
export const removeStamp = () => rmSync(STAMP, { force: true });
export const writeStamp = (hash: string) => writeFileSync(STAMP, hash);
