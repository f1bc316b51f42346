/** Understands the text of belay.yaml, and reports the first mistake in it. */
import { LineCounter } from 'yaml';
import type { z } from 'zod';
import { plainText } from '../contract/safe-text.ts';
import { ConfigError } from './environment/config-error.ts';
import { configurationSchema, type Configuration } from './file/file-schema.ts';
import { fixHint } from './fix-hints.ts';
import { inOrderOfFile, lineOf, parseFile } from './file/yaml-source.ts';
import { checkApprovals } from '../features/approvals/check-approvals.ts';
import { checkFleets } from '../features/rollouts/check-fleets.ts';
import { checkFreezes } from '../features/freezes/check-freezes.ts';
import { checkGates } from '../features/gates/check-gates.ts';
import { checkReports } from '../features/notifications/check-reports.ts';
import { checkSites } from '../features/site-checks/check-sites.ts';
import type { ConfigIssue } from './file/config-issue.ts';

/** @returns the place of a key, such as `belay.yaml:7` */
export function locateKeyIn(text: string, path: string, keys: string[]): string {
  const lines = new LineCounter();
  const file = parseFile(text, lines);
  return 'broken' in file ? path : `${path}:${lineOf(file.document, lines, keys)}`;
}

/** @throws ConfigError with file, line and key */
export function parseConfiguration(text: string, path: string): Configuration {
  const lines = new LineCounter();
  const file = parseFile(text, lines);
  const errorAt = (line: number, keys: ConfigIssue['path'], message: string) => {
    const key = keys.map((it) => plainText(String(it))).join('.') || 'the file';
    return new ConfigError(`${path}:${line}: ${key}: ${message}`);
  };
  if ('broken' in file) throw errorAt(file.broken.line, file.broken.keys, file.broken.message);
  const parsed = configurationSchema.safeParse(file.content ?? {}, { reportInput: true });
  const issue = firstIssue(parsed.error?.issues ?? []);
  if (issue !== undefined) {
    const keys = [...issue.path, ...(issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [])].map(String);
    throw errorAt(lineOf(file.document, lines, keys), keys, fixHint(issue));
  }
  const configuration = inOrderOfFile(file.document, parsed.data ?? {});
  const [problem] = contradictionsIn(configuration);
  if (problem === undefined) return configuration;
  throw errorAt(lineOf(file.document, lines, problem.path.map(String)), problem.path, problem.message);
}

/** A key that is missing may be there, misspelt. */
function firstIssue(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue | undefined {
  const [first] = issues;
  const place = first?.path.slice(0, -1).join('.');
  return issues.find(({ code, path }) => code === 'unrecognized_keys' && path.join('.') === place) ?? first;
}

function contradictionsIn(configuration: Configuration): ConfigIssue[] {
  const issues: ConfigIssue[] = [];
  for (const check of [checkFleets, checkFreezes, checkApprovals, checkSites, checkGates, checkReports])
    check(configuration, (path, message) => issues.push({ path, message }));
  return issues;
}
