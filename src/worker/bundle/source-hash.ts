/** A fingerprint of source files: what is built from them is current while it stays the same. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** @param paths files and folders below `root`; one that does not exist counts as such */
export function sourceHash(root: string, paths: readonly string[]): string {
  const hash = createHash('sha256');
  for (const path of paths) {
    const files = filesBelow(join(root, path));
    hash.update(`${path}\n${files.length}\n`);
    for (const file of files) {
      const content = readFileSync(join(root, path, file));
      hash.update(`${file}\n${content.length}\n`).update(content);
    }
  }
  return hash.digest('hex');
}

function filesBelow(path: string): string[] {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return [];
  if (!stats.isDirectory()) return [''];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(path.length + 1))
    .sort();
}
