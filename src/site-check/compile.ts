/** A check of belay.yaml, ready to be applied to pages. */
import { getProperty } from 'dot-prop';
import type { Page } from './exchange.ts';
import { parseExpected, parseGroup, type Expected } from './expected.ts';

export interface CheckRules {
  /** `200`, `2xx`; any of them. Default `2xx`. */
  status?: string[] | undefined;
  /** By header name. */
  header?: Record<string, string> | undefined;
  /** In the body, or with `not`, not in it. */
  body?: string | { not: string } | undefined;
  /** By path in the JSON body. */
  json?: Record<string, string> | undefined;
  /** Where the page shows the commit that it was built from. */
  commit?: { json: string } | { header: string } | { body: string } | undefined;
}

/** What a page shows. */
interface Shown {
  /** The first expectation that it does not meet; null if it meets all. */
  problem: string | null;
  /** 7 to 64 hex digits in lower case; null if it shows none. */
  commit: string | null;
}

/** Compiled once, since a site is read often. */
export type CompiledCheck = (page: Page) => Shown;

type Rule = (page: Parsed) => string | null;

interface Parsed extends Page {
  /** Undefined if the body is not JSON. */
  json: unknown;
}

const COMMIT = /^[0-9a-f]{7,64}$/;

/** @throws SyntaxError for an expectation that cannot be understood */
export function compileCheck(rules: CheckRules): CompiledCheck {
  const all = [...statusRule(rules), ...headerRules(rules), ...bodyRule(rules), ...jsonRules(rules)];
  const commitOf = compileCommit(rules);
  return (page) => {
    const parsed = { ...page, json: jsonOf(page.body) };
    const problem = all.map((rule) => rule(parsed)).find((it) => it !== null) ?? null;
    const commit = commitOf(parsed)?.trim().toLowerCase() ?? '';
    return { problem, commit: COMMIT.test(commit) ? commit : null };
  };
}

function jsonOf(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function statusRule({ status = ['2xx'] }: CheckRules): Rule[] {
  const isExpected = (code: number) =>
    status.some((it) => (it.endsWith('xx') ? Math.floor(code / 100) === Number(it[0]) : Number(it) === code));
  return [(page) => (isExpected(page.status) ? null : `status ${page.status}, expected ${status.join(' or ')}`)];
}

const headerRules = ({ header = {} }: CheckRules): Rule[] =>
  Object.entries(header).map(([name, text]) => {
    const expected = parseExpected(text);
    return ({ headers }) => unmet(`header ${name}`, headers[name.toLowerCase()] ?? null, expected);
  });

function bodyRule({ body }: CheckRules): Rule[] {
  if (body === undefined) return [];
  const expected = typeof body === 'string' ? parseExpected(body, 'part') : parseExpected(`!${body.not}`, 'part');
  return [(page) => (expected.isMetBy(page.body) ? null : `the body does not match ${expected.text}`)];
}

const jsonRules = ({ json = {} }: CheckRules): Rule[] =>
  Object.entries(json).map(([path, text]) => {
    const expected = parseExpected(text);
    return (page) => unmet(path, textAt(page, path), expected);
  });

const unmet = (what: string, actual: string | null, expected: Expected): string | null =>
  expected.isMetBy(actual)
    ? null
    : `${what} is ${actual === null ? 'missing' : `"${actual.slice(0, 60)}"`}, expected ${expected.text}`;

/** Values are compared as text. */
function textAt({ json }: Parsed, path: string): string | null {
  if (typeof json !== 'object' || json === null) return null;
  const value: unknown = getProperty(json, path);
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;
}

function compileCommit({ commit }: CheckRules): (page: Parsed) => string | null {
  if (commit === undefined) return () => null;
  if ('json' in commit) return (page) => textAt(page, commit.json);
  if ('header' in commit) return ({ headers }) => headers[commit.header.toLowerCase()] ?? null;
  const group = parseGroup(commit.body);
  return ({ body }) => group(body);
}
