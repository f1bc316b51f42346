/** What to do about a value of belay.yaml that is not as it should be, in our words. */
import type { z } from 'zod';

export function remedyOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys')
    return `there is no such key; see ${documentOf(issue.path[0] ?? issue.keys[0])}`;
  if (issue.code === 'invalid_value') return `write one of ${issue.values.join(', ')}`;
  if (issue.code === 'invalid_key') return issue.issues[0]?.message ?? issue.message;
  if (issue.code === 'invalid_type' || issue.code === 'invalid_union')
    return `${missing(issue.input)}${expected(issue)}`;
  return issue.message;
}

/** Where the schema has no words of its own. */
function expected(issue: z.core.$ZodIssue): string {
  const word = issue.code === 'invalid_type' ? EXPECTED[issue.expected] : undefined;
  return word === undefined || !issue.message.startsWith('Invalid input') ? issue.message : word;
}

const EXPECTED: Partial<Record<string, string>> = {
  object: 'write keys and values below it',
  record: 'write keys and values below it',
  array: 'write a list, like [a, b]',
  boolean: 'write true or false',
  string: 'write a word, in quotes if it looks like something else',
  number: 'write a number',
};

const FLEET_KEYS = ['fleets', 'rollouts', 'schedules'];

function documentOf(key: PropertyKey | undefined): string {
  return FLEET_KEYS.includes(String(key)) ? 'docs/fleets.md' : 'docs/configuration.md';
}

function missing(input: unknown): string {
  if (input === undefined) return 'it is missing; ';
  return input === null ? 'it is empty; ' : '';
}
