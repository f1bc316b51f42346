/** Reads whether a site does what is expected of it, as a package of its own: of Belay, it imports only what hides secrets. */
import { NoAnswer, Oversized, systemResolve } from './resolve.ts';
import { getPage, type Network, type Page, type PageRequest } from './exchange.ts';
import { hideAll, type Hide } from '../echo/index.ts';
import { RE2JS } from 're2js';
import { getProperty } from 'dot-prop';
import { parse } from 'lossless-json';

export { judgedAddresses, systemResolve } from './resolve.ts';
export { NoAnswer, Oversized } from './resolve.ts';
export type { Network, Page, PageRequest } from './exchange.ts';
export { hideAll, type Hide } from '../echo/index.ts';

export interface SiteRequest {
  url: string;
  check: CompiledCheck;
  /** Called for every request, so that a secret can be rotated. */
  headers: () => Promise<Record<string, string>>;
  timeoutMs: number;
  follow: boolean;
  isPrivateSite: boolean;
}

interface SiteAnswer {
  /** `fails`: the site answered, but not as expected. `nothing`: the site gave no answer. */
  kind: 'holds' | 'fails' | 'nothing';
  httpStatus: number | null;
  commit: string | null;
  /** Why the expectations do not hold, or if they do, why what stands in the commit's place is none. Else null. */
  why: string | null;
}

export type ReadSite = (request: SiteRequest) => Promise<SiteAnswer>;

const SYSTEM: Network = { resolve: systemResolve };

/** Reads one page for another purpose than a check. */
export const readPage = (request: PageRequest, network: Network = SYSTEM): Promise<Page> => getPage(request, network);

export const createSiteReader =
  (network: Network = SYSTEM): ReadSite =>
  async ({ url, check, headers: readHeaders, ...limits }) => {
    const headers = await readHeaders();
    const hide = hideAll(Object.values(headers));
    const without = (kind: 'fails' | 'nothing', { message }: Error): SiteAnswer => ({
      ...{ kind, httpStatus: null, commit: null },
      why: hide.text(message),
    });
    try {
      const page = await getPage({ ...limits, url: new URL(url), headers }, network);
      const { unmet, commit, noCommit } = check(page, hide);
      const [first] = unmet;
      return { kind: first ? 'fails' : 'holds', httpStatus: page.status, commit, why: first?.text ?? noCommit };
    } catch (error) {
      if (error instanceof Oversized) return without('fails', error);
      if (error instanceof NoAnswer) return without('nothing', error);
      throw error;
    }
  };

/* A check of belay.yaml, ready to be applied to pages. */

export interface CheckRules {
  /** `200`, `2xx`; any of them. Default `2xx`. */
  status?: readonly string[] | undefined;
  /** By header name. */
  header?: Record<string, string> | undefined;
  /** In the body, or with `not`, not in it. */
  body?: string | { not: string } | undefined;
  /** By path in the JSON body. Values are compared as text, and numbers as the page writes them. */
  json?: Record<string, string> | undefined;
  /** Where the page shows the commit that it was built from. */
  commit?: { json: string } | { header: string } | { body: string } | undefined;
}

/** An expectation that a page does not meet. */
interface Unmet {
  of: 'status' | 'header' | 'body' | 'json';
  text: string;
  /** The page has no such header or value. */
  isMissing: boolean;
}

/** What a page shows. */
interface Shown {
  unmet: readonly Unmet[];
  /** 7 to 64 hex digits in lower case; null if it shows none. */
  commit: string | null;
  /** Why it shows none; null if it does, or if the check does not say where. */
  noCommit: string | null;
}

/**
 * Compiled once, since a site is read often. Expectations are compared with the page as it is.
 *
 * @param hide of the request, whose headers the page may echo
 */
export type CompiledCheck = (page: Page, hide: Hide) => Shown;

/** @returns null if the page meets it */
type Rule = (page: Parsed) => Unmet | null;

interface Parsed extends Page {
  hide: Hide;
  /** Undefined if the body is not JSON. */
  json: unknown;
}

const COMMIT = /^[0-9a-f]{7,64}$/;

/** @throws SyntaxError for an expectation that cannot be understood */
export function compileCheck(rules: CheckRules): CompiledCheck {
  const all = [...statusRule(rules), ...headerRules(rules), ...bodyRule(rules), ...jsonRules(rules)];
  const commitOf = compileCommit(rules);
  return (page, hide) => {
    const parsed = { ...page, hide, json: jsonOf(page.body) };
    const unmet = all.flatMap((rule) => rule(parsed) ?? []);
    return { unmet, ...commitOf(parsed) };
  };
}

function statusRule({ status = ['2xx'] }: CheckRules): Rule[] {
  const isExpected = (code: number) =>
    status.some((it) => (it.endsWith('xx') ? Math.floor(code / 100) === Number(it[0]) : Number(it) === code));
  const text = (code: number) => `status ${code}, expected ${status.join(' or ')}`;
  return [(page) => (isExpected(page.status) ? null : { of: 'status', text: text(page.status), isMissing: false })];
}

const headerRules = ({ header = {} }: CheckRules): Rule[] =>
  Object.entries(header).map(([name, text]) => {
    const expected = parseExpected(text);
    return ({ headers, hide }) =>
      compare('header', `header ${name}`, headers[name.toLowerCase()] ?? null, expected, hide);
  });

function bodyRule({ body }: CheckRules): Rule[] {
  if (body === undefined) return [];
  const expected = typeof body === 'string' ? parseExpected(body, 'part') : parseExpected(`!${body.not}`, 'part');
  const unmet: Unmet = { of: 'body', text: `the body does not match ${expected.text}`, isMissing: false };
  return [(page) => (expected.isMetBy(page.body) ? null : unmet)];
}

const jsonRules = ({ json = {} }: CheckRules): Rule[] =>
  Object.entries(json).map(([path, text]) => {
    const expected = parseExpected(text);
    return ({ json: body, hide }) => compare('json', path, textAt(body, path), expected, hide);
  });

function compare(of: Unmet['of'], what: string, actual: string | null, expected: Expected, hide: Hide): Unmet | null {
  if (expected.isMetBy(actual)) return null;
  const shown = actual === null ? 'missing' : `"${shownText(actual, hide)}"`;
  return { of, text: `${what} is ${shown}, expected ${expected.text}`, isMissing: actual === null };
}

function compileCommit({ commit }: CheckRules): (page: Parsed) => Pick<Shown, 'commit' | 'noCommit'> {
  if (commit === undefined) return () => ({ commit: null, noCommit: null });
  const { what, read, quotes } = placeOf(commit);
  return (page) => {
    const text = read(page);
    const digits = text?.trim().toLowerCase() ?? '';
    const found = COMMIT.test(digits) ? page.hide.id(digits) : null;
    if (found !== null) return { commit: found, noCommit: null };
    if (text === null) return { commit: null, noCommit: `${what} is missing` };
    const shown = quotes ? `"${shownText(text, page.hide)}", ` : '';
    const why = COMMIT.test(digits) ? 'a secret of the request' : `${shown}not 7 to 64 hex digits`;
    return { commit: null, noCommit: `${what} is ${why}` };
  };
}

interface CommitPlace {
  what: string;
  read: (page: Parsed) => string | null;
  /** Messages quote nothing of a body. */
  quotes: boolean;
}

function placeOf(commit: NonNullable<CheckRules['commit']>): CommitPlace {
  if ('json' in commit)
    return { what: `commit: ${commit.json}`, read: ({ json }) => textAt(json, commit.json), quotes: true };
  if ('header' in commit) {
    const read = ({ headers }: Parsed) => headers[commit.header.toLowerCase()] ?? null;
    return { what: `commit: header ${commit.header}`, read, quotes: true };
  }
  const group = parseGroup(commit.body);
  return { what: `commit: the group of ${commit.body}`, read: ({ body }) => group(body), quotes: false };
}

/*
 * One expectation of belay.yaml: a text, a regular expression between slashes, or either of them after an exclamation
 * mark, which negates it. Expressions are RE2's, so no page can stall a worker.
 */

interface Expected {
  /** As it was written. */
  text: string;
  /** @param actual null if there is none */
  isMetBy(actual: string | null): boolean;
}

/** @throws SyntaxError for an expression that RE2 does not take */
function parseExpected(text: string, extent: 'whole' | 'part' = 'whole'): Expected {
  const isNot = text.startsWith('!');
  const matches = matcherOf(isNot ? text.slice(1) : text, extent);
  return { text, isMetBy: (actual) => (actual !== null && matches(actual)) !== isNot };
}

function matcherOf(text: string, extent: 'whole' | 'part'): (actual: string) => boolean {
  const pattern = patternIn(text);
  if (pattern !== null) {
    const compiled = compile(pattern);
    return (actual) => compiled.matcher(actual).find();
  }
  return extent === 'part' ? (actual) => actual.includes(text) : (actual) => actual === text;
}

/** The expression between slashes, or null. */
const patternIn = (text: string): string | null => /^\/(.+)\/$/s.exec(text)?.[1] ?? null;

/** The first group of an expression between slashes. @throws SyntaxError without exactly one group */
function parseGroup(text: string): (actual: string) => string | null {
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

/* Values in a body of JSON. */

/** Numbers are texts, with the digits of the page. @returns undefined if the body is not JSON */
export function jsonOf(body: string): unknown {
  try {
    return parse(body, null, { parseNumber: (digits) => digits, onDuplicateKey: ({ newValue }) => newValue });
  } catch {
    return undefined;
  }
}

/** @returns the value at a path as text; null if there is none, or if it is not a single value */
export function textAt(json: unknown, path: string): string | null {
  if (typeof json !== 'object' || json === null) return null;
  const value: unknown = getProperty(json, path);
  return typeof value === 'string' || typeof value === 'boolean' ? String(value) : null;
}

const MAX_SHOWN = 60;

/** The beginning of a value, for messages. It is cut between characters: half of an emoji would spoil the message. */
export const shownText = (text: string, hide: Hide): string =>
  [...hide.text(text).slice(0, 2 * MAX_SHOWN)].slice(0, MAX_SHOWN).join('');
