/** What is read out of the service's answers. Fields the interface doesn't show are taken where they are, never needed. */
import { isLosslessNumber, parse } from 'lossless-json';
import { z } from 'zod';

/** A number would lose digits beyond 2^53 as a JavaScript number; lossless-json keeps its text. */
const decimal = z.custom<{ value: string }>((value) => isLosslessNumber(value) && /^\d+$/.test(value.value));

const backupId = z
  .union([z.string(), decimal.transform((number) => number.value)])
  .refine((id) => /^[^\p{Cc}\p{Cs}]{1,200}$/u.test(id) && id !== '.' && id !== '..');

const createdBackup = z.object({ id: backupId });
const operationStatus = z.object({ status: z.string().trim().min(1) });

/** @throws SyntaxError */
export function parseJson(body: string): unknown {
  try {
    return parse(body);
  } catch {
    // The parser's own message quotes the body, and a deep one overflows its stack.
    throw new SyntaxError('the body is not JSON');
  }
}

/** @throws SyntaxError */
export function parseCreatedBackup(body: string): string {
  const answer = createdBackup.safeParse(parseJson(body));
  if (!answer.success) throw new SyntaxError('the body has no usable field "id"');
  return answer.data.id;
}

/** @throws SyntaxError */
export function parseStatus(body: string): { status: string; marks: string[] } {
  const json = parseJson(body);
  const answer = operationStatus.safeParse(json);
  if (!answer.success) throw new SyntaxError('the body has no usable field "status"');
  return { status: answer.data.status, marks: marksOf(json) };
}

const MARKS: [kind: string, fieldName: RegExp][] = [
  ['id', /^(id|uuid|deploy(ment)?_?id)$/i],
  ['commit', /^(commit|sha|revision|commit_?(sha|hash|id))$/i],
  ['time', /^(created|started|queued|triggered)_?at$/i],
];

/**
 * What an answer says of the identity of a deployment: `id:17`, `commit:ab12`, `time:2026-01-01T00:00:00Z`, from the
 * object itself and from a `deployment` or `data` inside it.
 */
export function marksOf(json: unknown): string[] {
  if (!isObject(json)) return [];
  const objects = [json, json.deployment, json.data].filter(isObject);
  return [...new Set(objects.flatMap((object) => Object.entries(object).flatMap(markOf)))];
}

function markOf([name, value]: [string, unknown]): string[] {
  const text = typeof value === 'string' ? value : isLosslessNumber(value) ? value.value : '';
  const kind = MARKS.find(([, fieldName]) => fieldName.test(name))?.[0];
  return kind === undefined || text === '' || text.length > 100 ? [] : [`${kind}:${text}`];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumber(value);
}
