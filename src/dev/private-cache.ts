/** The cache of programs that Belay downloads or builds. Only this user can write to it, and each has its digest. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { ConfigError } from '../config/environment/config-error.ts';

/**
 * Creates the folder, or takes the rights of others away.
 * @returns whether only this user could write to it before
 * @throws ConfigError if it belongs to another user
 */
export async function makePrivate(folder: string): Promise<boolean> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { uid, mode } = await stat(folder);
  if (uid !== (process.getuid?.() ?? uid)) {
    throw new ConfigError(`${folder} belongs to another user: set XDG_CACHE_HOME to a folder of your own`);
  }
  if ((mode & 0o077) !== 0) await chmod(folder, 0o700);
  return (mode & 0o022) === 0;
}

const digestFile = (program: string) => `${program}.sha256`;

/** Call it once the program is complete. */
export async function recordDigest(program: string): Promise<void> {
  const draft = `${digestFile(program)}.${process.pid}`;
  await writeFile(draft, `${await digestOf(program)}\n`, { mode: 0o600 });
  await rename(draft, digestFile(program));
}

/** Whether the program is the one whose digest was recorded. @param known whether a program without a digest counts */
export async function isIntact(program: string, known: boolean): Promise<boolean> {
  const recorded = await readFile(digestFile(program), 'utf8').catch(() => null);
  const digest = await digestOf(program).catch(() => null);
  if (digest === null || recorded !== null) return digest !== null && recorded?.trim() === digest;
  if (known) await recordDigest(program);
  return known;
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}
