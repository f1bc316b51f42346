/** Other Nodes, from the npm registry (package `node`), kept below node_modules/.cache. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * @param version such as `24`
 * @returns the folder of its `node`
 * @throws Error if the registry has none for this machine
 */
export function nodeBinary(version: string): string {
  const folder = fileURLToPath(new URL(`../node_modules/.cache/belay/node-${version}`, import.meta.url));
  const bin = join(folder, 'node_modules/node/bin');
  if (existsSync(join(bin, 'node'))) return bin;
  mkdirSync(folder, { recursive: true });
  // The package fetches the binary for this platform in a script of its own.
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "allowScripts": { "node": true } }\n');
  const args = ['install', '--no-save', '--no-package-lock', '--no-audit', '--no-fund', `node@${version}`];
  const { stderr } = spawnSync('npm', args, { cwd: folder, encoding: 'utf8' });
  if (existsSync(join(bin, 'node'))) return bin;
  throw new Error(`npm has no node@${version} for this machine: ${stderr.trim().split('\n')[0]}`);
}
