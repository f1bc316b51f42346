/** Parses the service's answers. Fields that the interface does not show are used if present, but never required. */
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
    return parse(body);
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
export function parseStatus(body: string): { status: string; identityMarkers: string[] } {
  const json = parseJson(body);
  const answer = operationStatus.safeParse(json);
  if (!answer.success) throw new SyntaxError('the body has no usable field "status"');
  return { status: answer.data.status, identityMarkers: collectIdentityMarkers(json) };
}

const MARKERS: [kind: string, fieldName: RegExp][] = [
  ['id', /^(id|uuid|deploy(ment)?_?id)$/i],
  ['commit', /^(commit|sha|revision|commit_?(sha|hash|id))$/i],
  ['time', /^(created|started|queued|triggered)_?at$/i],
];

/**
 * Identity markers of a deployment, such as `id:17`, `commit:ab12` or `time:2026-01-01T00:00:00Z`, from the answer
 * itself and from a `deployment` or `data` object inside it.
 */
export function collectIdentityMarkers(json: unknown): string[] {
  if (!isObject(json)) return [];
  const objects = [json, json.deployment, json.data].filter(isObject);
  return [...new Set(objects.flatMap((object) => Object.entries(object).flatMap(markerOf)))];
}

function markerOf([name, value]: [string, unknown]): string[] {
  const text = typeof value === 'string' ? value : isLosslessNumber(value) ? value.value : '';
  const kind = MARKERS.find(([, fieldName]) => fieldName.test(name))?.[0];
  return kind === undefined || text === '' || text.length > 100 ? [] : [`${kind}:${text}`];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumber(value);
}
