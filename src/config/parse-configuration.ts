/** Parses the text of belay.yaml, and reports the first mistake in it. */
import { LineCounter } from 'yaml';
import type { z } from 'zod';
import { plainText } from '../contract/safe-text.ts';
import { CONTRADICTIONS } from './features.ts';
import { ConfigError } from './environment/variables.ts';
import { configurationSchema, type Configuration } from './file/file-schema.ts';
import { inOrderOfFile, lineOf, parseFile } from './file/yaml-source.ts';
import { AS_WRITTEN, type ConfigIssue } from './file/schema-values.ts';
import { didYouMean } from '../request/input/did-you-mean.ts';

/** @returns the place of a key, such as `belay.yaml:7` */
export function locateKeyIn(text: string, path: string, keys: string[]): string {
  const lines = new LineCounter();
  const file = parseFile(text, lines);
  return 'broken' in file ? path : `${path}:${lineOf(file.document, lines, keys)}`;
}

/** @throws ConfigError with file, line and key */
export function parseConfiguration(text: string, path: string): Configuration {
  const lines = new LineCounter();
  const isText = (keys: readonly string[]) =>
    schemasAt(configurationSchema, keys).some((it) => AS_WRITTEN.get(it) !== undefined);
  const file = parseFile(text, lines, isText);
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

/** If a key is missing, an unknown key beside it comes first: it may be the missing one, misspelt. */
function firstIssue(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue | undefined {
  const [first] = issues;
  const place = first?.path.slice(0, -1).join('.');
  return issues.find(({ code, path }) => code === 'unrecognized_keys' && path.join('.') === place) ?? first;
}

function contradictionsIn(configuration: Configuration): ConfigIssue[] {
  const issues: ConfigIssue[] = [];
  for (const check of CONTRADICTIONS) check(configuration, (path, message) => issues.push({ path, message }));
  return issues;
}

/* Error messages for invalid values in belay.yaml: what to write instead. */

function fixHint(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') {
    const known = schemasAt(configurationSchema, issue.path).flatMap(({ _zod: { def } }) =>
      def.type === 'object' ? Object.keys(def.shape) : [],
    );
    const meant = didYouMean(issue.keys[0] ?? '', known);
    return `there is no such key${meant}; see docs/reference/belay-yaml.md`;
  }
  if (issue.code === 'invalid_value') return `write one of ${issue.values.join(', ')}`;
  if (issue.code === 'invalid_key') return issue.issues[0]?.message ?? issue.message;
  if (issue.code === 'invalid_type' || issue.code === 'invalid_union')
    return `${missing(issue.input)}${expected(issue)}`;
  return issue.message;
}

/** Uses the message of the schema, or a general one if the schema has none. */
function expected(issue: z.core.$ZodIssue): string {
  const hint = issue.code === 'invalid_type' ? EXPECTED[issue.expected] : undefined;
  return hint === undefined || !issue.message.startsWith('Invalid input') ? issue.message : hint;
}

const EXPECTED: Partial<Record<string, string>> = {
  object: 'write keys and values below it',
  record: 'write keys and values below it',
  array: 'write a list, like [a, b]',
  boolean: 'write true or false',
  string: 'write a word, in quotes if it looks like something else',
  number: 'write a number',
};

function missing(input: unknown): string {
  if (input === undefined) return 'it is missing; ';
  return input === null ? 'it is empty; ' : '';
}

/** @returns the schemas at a place of the file, with those that they are made of. @param keys and indexes of lists */
function schemasAt(schema: z.core.$ZodType, keys: readonly PropertyKey[]): z.core.$ZodTypes[] {
  const known = schema as z.core.$ZodTypes;
  const { def } = known._zod;
  const below = (parts: readonly z.core.$ZodType[]) => [
    ...(keys.length === 0 ? [known] : []),
    ...parts.flatMap((it) => schemasAt(it, keys)),
  ];
  const [first, ...rest] = keys;
  switch (def.type) {
    case 'union':
      return below(def.options);
    case 'pipe':
      return below([def.in, def.out]);
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
    case 'readonly':
      return below([def.innerType]);
  }
  if (first === undefined) return [known];
  const inner = schemaInside(def, String(first));
  return inner === undefined ? [] : schemasAt(inner, rest);
}

function schemaInside(def: z.core.$ZodTypes['_zod']['def'], key: string): z.core.$ZodType | undefined {
  switch (def.type) {
    case 'object':
      return def.shape[key];
    case 'record':
      return def.valueType;
    case 'array':
      return def.element;
    default:
      return undefined;
  }
}
