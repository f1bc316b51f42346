/** Parses bodies as JSON. Rejects deep nesting and keys that would change the prototype of an object. */
import { isLosslessNumber, parse } from 'lossless-json';
import secureJson from 'secure-json-parse';
import { isRecord } from '../contract/plain-object.ts';

const MAX_DEPTH = 32;

export type JsonObject = Record<string, unknown>;

/**
 * Keeps numbers as written, because an id may have more digits than a JavaScript number. @returns null if the body is
 * not an object
 */
export function parseBody(body: Buffer): JsonObject | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
    if (depthOf(text) > MAX_DEPTH) return null;
    // Rejects __proto__ and constructor.prototype.
    secureJson.parse(text);
    // It also rejects a key with two values: a signature would cover both, and the sender may mean the other one.
    const json = parse(text);
    return isObject(json) ? json : null;
  } catch {
    return null;
  }
}

/** Measures the depth before parsing, because the parser recurses once per level. */
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
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}
