/** Reads belay.yaml: the settings that differ between services. It never contains secrets, only where they are. */
import { readFile } from 'node:fs/promises';
import { LineCounter } from 'yaml';
import { ConfigError } from './environment/config-error.ts';
import { configFile } from './environment/environment.ts';
import { plainText } from '../contract/wording/safe-text.ts';
import { checkApprovals } from './plan/check-approvals.ts';
import { checkFleets } from './plan/check-fleets.ts';
import { checkFreezes } from './plan/check-freezes.ts';
import { checkGates } from './plan/check-gates.ts';
import { checkReports } from './plan/check-reports.ts';
import { checkSites } from './plan/check-sites.ts';
import type { ConfigIssue } from './plan/config-issue.ts';
import { fixHint } from './file/fix-hints.ts';
import { configurationSchema, type Configuration } from './file/file-schema.ts';
import { inOrderOfFile, lineOf, parseFile } from './file/yaml-source.ts';

export type { Configuration };

/** @returns the place of a key, such as `belay.yaml:7` */
export async function locateKey(keys: string[], { path } = configFile()): Promise<string> {
  const lines = new LineCounter();
  const file = parseFile(await readFile(path, 'utf8'), lines);
  return 'broken' in file ? path : `${path}:${lineOf(file.document, lines, keys)}`;
}

/** @throws ConfigError with file, line and key */
export async function readConfiguration({ path, isNamed } = configFile()): Promise<Configuration> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' && !isNamed) return '';
    throw new ConfigError(
      `${path} cannot be read (${error.code ?? 'unknown error'}): set BELAY_CONFIG to the path of belay.yaml`,
    );
  });
  const lines = new LineCounter();
  const file = parseFile(text, lines);
  const errorAt = (line: number, keys: ConfigIssue['path'], message: string) => {
    const key = keys.map((it) => plainText(String(it))).join('.') || 'the file';
    return new ConfigError(`${path}:${line}: ${key}: ${message}`);
  };
  if ('broken' in file) throw errorAt(file.broken.line, file.broken.keys, file.broken.message);
  const parsed = configurationSchema.safeParse(file.content ?? {}, { reportInput: true });
  const [issue] = parsed.error?.issues ?? [];
  if (issue !== undefined) {
    const keys = [...issue.path, ...(issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [])].map(String);
    throw errorAt(lineOf(file.document, lines, keys), keys, fixHint(issue));
  }
  const configuration = inOrderOfFile(file.document, parsed.data ?? {});
  const [problem] = contradictionsIn(configuration);
  if (problem === undefined) return configuration;
  throw errorAt(lineOf(file.document, lines, problem.path.map(String)), problem.path, problem.message);
}

function contradictionsIn(configuration: Configuration): ConfigIssue[] {
  const issues: ConfigIssue[] = [];
  for (const check of [checkFleets, checkFreezes, checkApprovals, checkSites, checkGates, checkReports])
    check(configuration, (path, message) => issues.push({ path, message }));
  return issues;
}
