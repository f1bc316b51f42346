/** Bodies from outside as JSON: well-formed, not too deep, without keys that would change what an object is. */
import { isLosslessNumber, parse } from 'lossless-json';
import secureJson from 'secure-json-parse';
import { isRecord } from '../contract/plain-object.ts';

const MAX_DEPTH = 32;

export type JsonObject = Record<string, unknown>;

/** Numbers stay as they are written, for an id may have more digits than a number of JavaScript's. @returns null for none */
export function parseBody(body: Buffer): JsonObject | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
    if (depthOf(text) > MAX_DEPTH) return null;
    // Refuses __proto__ and constructor.prototype.
    secureJson.parse(text);
    const json = parse(text);
    return isObject(json) ? json : null;
  } catch {
    return null;
  }
}

/** Found before it is parsed: the parser calls itself for every level. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let index = 0; index < text.length; index += 1) {
    const char = text[index];
    if (inString) {
      if (char === '\\') index += 1;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === '[' || char === '{') deepest = Math.max(deepest, (depth += 1));
    else if (char === ']' || char === '}') depth -= 1;
  }
  return deepest;
}

export function isObject(value: unknown): value is JsonObject {
  return isRecord(value) && !isLosslessNumber(value);
}

/** A string or a number as text, or null. */
export function textIn(value: unknown): string | null {
  if (isLosslessNumber(value)) return value.value;
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
}
