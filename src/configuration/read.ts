/** The configuration file: what Belay has to be told that is no secret and differs between services. */
import { readFile } from 'node:fs/promises';
import { isMap, isScalar, isSeq, LineCounter, parseDocument, visit, type Document, type Node } from 'yaml';
import type { z } from 'zod';
import { ConfigError, configFile } from '../config.ts';
import { configurationSchema, type Configuration } from './schema.ts';

export type { Configuration };

/** @throws ConfigError that names file, line and key */
export async function readConfiguration({ path, isNamed } = configFile()): Promise<Configuration> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' && !isNamed) return '';
    throw new ConfigError(`${path} cannot be read (${error.code ?? 'unknown error'}): correct BELAY_CONFIG`);
  });
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const [broken] = document.errors;
  if (broken !== undefined) throw new ConfigError(`${path}:${lines.linePos(broken.pos[0]).line}: ${broken.message}`);
  keepDigits(document);
  const parsed = configurationSchema.safeParse(document.toJS() ?? {});
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  if (issue === undefined) throw new ConfigError(`${path} is not as it should be`);
  const keys = [...issue.path, ...(issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [])].map(String);
  const place = `${path}:${lineOf(document, lines, keys)}`;
  throw new ConfigError(`${place}: ${keys.join('.') || 'the file'}: ${remedyOf(issue)}`);
}

/** An id like 0012 or 1e3 is to be taken as it was written, though YAML has it for a number. */
function keepDigits(document: Document): void {
  visit(document, {
    Scalar(_key, node) {
      if (typeof node.value === 'number' && String(node.value) !== node.source) node.value = node.source;
    },
  });
}

function remedyOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') return 'there is no such key; see docs/configuration.md';
  if (issue.code === 'invalid_value') return `write one of ${issue.values.join(', ')}`;
  if (issue.code === 'invalid_key') return issue.issues[0]?.message ?? issue.message;
  if (issue.code === 'invalid_type' && issue.input === undefined) return `it is missing; ${issue.message}`;
  return issue.message;
}

/** Of the innermost of the keys that is there. */
function lineOf(document: Document, lines: LineCounter, keys: string[]): number {
  let node: unknown = document.contents;
  let offset = 0;
  for (const key of keys) {
    const found = inside(node, key);
    if (found === null) break;
    offset = found.offset ?? offset;
    node = found.value;
  }
  return lines.linePos(offset).line;
}

function inside(node: unknown, key: string): { offset: number | undefined; value: unknown } | null {
  if (isSeq(node)) {
    const value = node.items[Number(key)] as Node | undefined;
    return value === undefined ? null : { offset: value.range?.[0], value };
  }
  const pair = isMap(node)
    ? node.items.find((item) => isScalar(item.key) && String(item.key.value) === key)
    : undefined;
  return isScalar(pair?.key) ? { offset: pair.key.range?.[0], value: pair.value } : null;
}
