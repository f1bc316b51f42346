/**
 * One expectation of belay.yaml: a text, a regular expression between slashes, or either of them after an exclamation
 * mark, which says not. Expressions are RE2's, so no page can stall a worker.
 */
import { RE2JS } from 're2js';

export interface Expected {
  /** As it was written. */
  text: string;
  /** @param actual null if there is none */
  isMetBy(actual: string | null): boolean;
}

/** @throws SyntaxError for an expression that RE2 does not take */
export function parseExpected(text: string, compare: 'whole' | 'part' = 'whole'): Expected {
  const isNot = text.startsWith('!');
  const matches = matcherOf(isNot ? text.slice(1) : text, compare);
  return { text, isMetBy: (actual) => (actual !== null && matches(actual)) !== isNot };
}

function matcherOf(text: string, compare: 'whole' | 'part'): (actual: string) => boolean {
  const pattern = patternIn(text);
  if (pattern !== null) {
    const compiled = compile(pattern);
    return (actual) => compiled.matcher(actual).find();
  }
  return compare === 'part' ? (actual) => actual.includes(text) : (actual) => actual === text;
}

/** The expression between slashes, or null. */
const patternIn = (text: string): string | null => /^\/(.+)\/$/s.exec(text)?.[1] ?? null;

/** The first group of an expression between slashes. @throws SyntaxError without exactly one group */
export function parseGroup(text: string): (actual: string) => string | null {
  const pattern = patternIn(text);
  if (pattern === null) throw new SyntaxError('write a regular expression between slashes');
  const compiled = compile(pattern);
  if (compiled.groupCount() !== 1) throw new SyntaxError('write exactly one group in parentheses');
  return (actual) => {
    const matcher = compiled.matcher(actual);
    return matcher.find() ? matcher.group(1) : null;
  };
}

function compile(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    throw new SyntaxError(error instanceof Error ? error.message : String(error));
  }
}
