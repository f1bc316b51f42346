/** Error messages for invalid values in belay.yaml: what to write instead. */
import type { z } from 'zod';
import { didYouMean } from '../request/did-you-mean.ts';
import { configurationSchema } from './file/file-schema.ts';
import { knownKeys } from './file/known-keys.ts';

export function fixHint(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') {
    const meant = didYouMean(issue.keys[0] ?? '', knownKeys(configurationSchema, issue.path));
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
