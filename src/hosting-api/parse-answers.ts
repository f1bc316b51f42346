/** Parses the service's answers. Fields that the interface does not show are used if present, but never required. */
import { createHash } from 'node:crypto';
import { getProperty } from 'dot-prop';
import { isLosslessNumber, parse } from 'lossless-json';
import { z } from 'zod';

/** A JavaScript number would lose digits beyond 2^53; lossless-json keeps the text. */
const decimal = z.custom<{ value: string }>((value) => isLosslessNumber(value) && /^\d+$/.test(value.value));

const backupId = z
  .union([z.string(), decimal.transform((number) => number.value)])
  .refine((id) => /^[^\p{Cc}\p{Cs}]{1,200}$/u.test(id) && id !== '.' && id !== '..');

const createdBackup = z.object({ id: backupId });
const operationStatus = z.object({ status: z.string().trim().min(1) });

/** @throws SyntaxError */
export function parseJson(body: string): unknown {
  try {
    // Of a key that is repeated, the last value counts, as it does for `JSON.parse`.
    return parse(body, undefined, { onDuplicateKey: ({ newValue }) => newValue });
  } catch {
    // The parser's own message quotes the body, and deeply nested JSON overflows the stack.
    throw new SyntaxError('the body is not JSON');
  }
}

export function isJson(body: string): boolean {
  try {
    parseJson(body);
    return true;
  } catch {
    return false;
  }
}

/** @throws SyntaxError */
export function parseCreatedBackup(body: string): string {
  const answer = createdBackup.safeParse(parseJson(body));
  if (!answer.success) throw new SyntaxError('the body has no usable field "id"');
  return answer.data.id;
}

/** @throws SyntaxError */
export function parseStatus(body: string): string {
  const answer = operationStatus.safeParse(parseJson(body));
  if (!answer.success) throw new SyntaxError('the body has no usable field "status"');
  return answer.data.status;
}

const ID_FIELD = /^(id|uuid|deploy(ment)?_?id)$/i;

/**
 * Returns the ids in an answer about a deployment, by the paths of their fields. A commit or a time is no id, because a
 * push may share it.
 *
 * @param field the path of the only field, or `none`. Default: fields are found by name in the answer itself, and in a
 * `deployment` or `data` object inside it
 */
export function deploymentIds(json: unknown, field?: string): [path: string, id: string][] {
  if (!isObject(json) || field === 'none') return [];
  if (field !== undefined) return idAt(field, getProperty(json, field));
  const objects = [['', json] as const, ['deployment.', json.deployment] as const, ['data.', json.data] as const];
  return objects.flatMap(([prefix, object]) =>
    Object.entries(isObject(object) ? object : {})
      .filter(([name]) => ID_FIELD.test(name))
      .flatMap(([name, value]) => idAt(prefix + name, value)),
  );
}

function idAt(path: string, value: unknown): [path: string, id: string][] {
  const id = isLosslessNumber(value) ? value.value : value;
  return typeof id !== 'string' || isUnset(id) ? [] : [[path, shortened(id)]];
}

const MAX_ID_LENGTH = 100;

/** Histories store the ids of each read. A long one stays another one than those that begin like it. */
const shortened = (id: string): string =>
  id.length <= MAX_ID_LENGTH ? id : `${id.slice(0, 30)}~${createHash('sha256').update(id).digest('hex')}`;

/** An empty id, zero, and the nil UUID stand for an id that is not set. */
const isUnset = (id: string): boolean => /^[0-]*$/.test(id);

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumber(value);
}
