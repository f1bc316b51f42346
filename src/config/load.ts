/** Reads belay.yaml: the settings that differ between services. It never contains secrets, only where they are. */
import { readFile } from 'node:fs/promises';
import { ConfigError, unreadableFile } from './environment/variables.ts';
import { configFile, type ConfigFile } from './environment/environment.ts';
import type { Configuration } from './file/file-schema.ts';
import { createInventoryCheck } from './inventory.ts';
import { BelayError } from '../contract/errors.ts';
import type { RunParts } from '../contract/target.ts';

export type { Configuration };

/** Loaded only if there is a file, because its schema takes a quarter of the time in which a command starts. */
const parser = () => import('./parse-configuration.ts');

/** @returns the place of a key, such as `belay.yaml:7` */
async function locateKey(keys: string[], { path } = configFile()): Promise<string> {
  return (await parser()).locateKeyIn(await readFile(path, 'utf8'), path, keys);
}

/**
 * Checks what a command names against this machine's file. Workers check requests against their own as well.
 *
 * @throws BelayError of type `Usage` with the place in the file
 */
export async function refuseInventoryConflict(configuration: Configuration, asked: RunParts): Promise<void> {
  const found = createInventoryCheck(configuration)(asked);
  if (found === null) return;
  throw new BelayError('Usage', `${await locateKey(found.path)}: ${found.path.join('.')}: ${found.message}`);
}

/** An error of a key, such as `notify.reports.shop.token: …`, with file and line; any other as it is. */
export async function atItsLine(error: unknown, file = configFile()): Promise<unknown> {
  if (!(error instanceof ConfigError)) return error;
  const keys = /^[\w.-]+(?=: )/.exec(error.message)?.[0].split('.') ?? [];
  if (keys.length < 2) return error;
  const configuration = await readConfiguration(file).catch(() => ({}));
  if (!Object.keys(configuration).includes(keys[0] ?? '')) return error;
  return new ConfigError(`${await locateKey(keys, file)}: ${error.message}`, { cause: error });
}

/** What to do about a file that cannot be read. */
const CONFIG_REMEDY = 'set BELAY_CONFIG to the path of belay.yaml';

/**
 * Reads and checks `belay.yaml`.
 *
 * @returns `{}` if there is no file and none is named
 * @throws BelayError of type `Usage` with file, line and key
 */
export async function readConfiguration(
  { path, isNamed }: ConfigFile = configFile(),
  remedy = CONFIG_REMEDY,
): Promise<Configuration> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' && !isNamed) return '';
    throw new ConfigError(unreadableFile(path, error, remedy));
  });
  return text === '' ? {} : (await parser()).parseConfiguration(text, path);
}

/** For a command that has nothing to do without a file. @throws ConfigError if there is none, too */
export function requireConfiguration(): Promise<Configuration> {
  const file = configFile();
  return readConfiguration({ ...file, isNamed: true }, remedyOfMissing(file));
}

export const remedyOfMissing = ({ isNamed } = configFile()): string =>
  isNamed ? CONFIG_REMEDY : '`belay init` begins one, or set BELAY_CONFIG to the path of yours';
