/** The configuration file: what Belay has to be told that is no secret and differs between services. */
import { readFile } from 'node:fs/promises';
import { LineCounter } from 'yaml';
import { ConfigError, configFile } from './environment/environment.ts';
import { plainText } from '../contract/wording/safe-text.ts';
import { fleetMistakes, type Mistake } from './plan/check-fleets.ts';
import { remedyOf } from './file/fix-hints.ts';
import { configurationSchema, type Configuration } from './file/file-schema.ts';
import { inOrderOfFile, lineOf, parseFile } from './file/yaml-source.ts';

export type { Configuration };

/** `belay.yaml:7`, where this key stands. */
export async function placeOf(keys: string[], { path } = configFile()): Promise<string> {
  const lines = new LineCounter();
  const file = parseFile(await readFile(path, 'utf8'), lines);
  return 'broken' in file ? path : `${path}:${lineOf(file.document, lines, keys)}`;
}

/** @throws ConfigError that names file, line and key */
export async function readConfiguration({ path, isNamed } = configFile()): Promise<Configuration> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' && !isNamed) return '';
    throw new ConfigError(`${path} cannot be read (${error.code ?? 'unknown error'}): set BELAY_CONFIG to where it is`);
  });
  const lines = new LineCounter();
  const file = parseFile(text, lines);
  const wrong = (line: number, keys: Mistake['path'], message: string) => {
    const key = keys.map((it) => plainText(String(it))).join('.') || 'the file';
    return new ConfigError(`${path}:${line}: ${key}: ${message}`);
  };
  if ('broken' in file) throw wrong(file.broken.line, file.broken.keys, file.broken.message);
  const parsed = configurationSchema.safeParse(file.content ?? {}, { reportInput: true });
  const [issue] = parsed.error?.issues ?? [];
  if (issue !== undefined) {
    const keys = [...issue.path, ...(issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [])].map(String);
    throw wrong(lineOf(file.document, lines, keys), keys, remedyOf(issue));
  }
  const configuration = inOrderOfFile(file.document, parsed.data ?? {});
  const [mistake] = fleetMistakes(configuration);
  if (mistake === undefined) return configuration;
  throw wrong(lineOf(file.document, lines, mistake.path.map(String)), mistake.path, mistake.message);
}
