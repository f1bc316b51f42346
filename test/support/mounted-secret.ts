/** Files that change as those of a secret do that Kubernetes mounts: all at once, behind a symbolic link. */
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tempFolder } from './temporal.ts';

export interface MountedSecret {
  path(name: string): string;
  /** Puts these files in the place of all earlier ones. */
  write(files: Record<string, string>): void;
}

export async function mountSecret(files: Record<string, string>): Promise<MountedSecret> {
  const folder = await tempFolder();
  let versions = 0;
  const write = (contents: Record<string, string>) => {
    const version = `..version-${(versions += 1)}`;
    mkdirSync(join(folder, version));
    for (const [name, text] of Object.entries(contents)) writeFileSync(join(folder, version, name), text);
    symlinkSync(version, join(folder, '..next'));
    renameSync(join(folder, '..next'), join(folder, '..data'));
  };
  write(files);
  for (const name of Object.keys(files)) symlinkSync(join('..data', name), join(folder, name));
  return { path: (name) => join(folder, name), write };
}
