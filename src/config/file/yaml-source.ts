/** Parses belay.yaml as YAML: explains syntax errors, and finds the line of a key. */
import {
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  parseDocument,
  visit,
  type Document,
  type LineCounter,
  type Node,
  type Scalar,
  type YAMLParseError,
} from 'yaml';
import type { Configuration } from './file-schema.ts';

interface SyntaxIssue {
  line: number;
  keys: string[];
  message: string;
}

/** Assigning this key would set the prototype of the object. */
const PROTOTYPE = '__proto__';
/** Code for a key that is a list, a map or empty. */
const KEY = 'KEY';

/**
 * @param isText whether a number below these keys is text, such as an id 0012 or 1e3; default everywhere
 * @returns the document and its content as plain objects, or the first syntax error
 */
export function parseFile(
  text: string,
  lines: LineCounter,
  isText: (keys: readonly string[]) => boolean = () => true,
): { document: Document; content: unknown } | { broken: SyntaxIssue } {
  if (/[\0\uFFFD]/.test(text))
    return { broken: { line: 1, keys: [], message: 'the file is not valid UTF-8: save it as UTF-8' } };
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: isSameKey });
  const [error] = document.errors;
  const broken =
    error === undefined
      ? unusableNode(document)
      : { code: error.code, at: errorOffset(error, text), detail: error.message };
  if (broken !== null) {
    const message = FIX_HINTS[broken.code] ?? `not valid YAML: ${broken.detail}`;
    const keys = broken.code === 'MULTIPLE_DOCS' ? [] : keysAt(document, broken.at);
    return { broken: { line: lines.linePos(broken.at).line, keys, message } };
  }
  keepAsWritten(document, isText);
  try {
    return { document, content: document.toJS() as unknown };
  } catch {
    return { broken: { line: 1, keys: [], message: 'its *aliases expand to too many values: write them out' } };
  }
}

const FIX_HINTS: Partial<Record<string, string>> = {
  BAD_ALIAS: 'a value that begins with * refers to an anchor that is not in the file: put it in quotes',
  UNEXPECTED_TOKEN: 'not valid YAML: put text with characters like * or : in quotes',
  DUPLICATE_KEY: 'duplicate key: remove one',
  MULTIPLE_DOCS: 'the file has two documents: remove the line ---',
  MISSING_CHAR: 'a quote or bracket is never closed: close it',
  BLOCK_AS_IMPLICIT_KEY: 'two keys in one line: start a new line after the first one, or put the text in quotes',
  BAD_INDENT: 'indent it like the lines around it, and close any bracket before it',
  TAB_AS_INDENT: 'it is indented with a tab: use spaces',
  BAD_SCALAR_START: 'a value cannot begin with this character: put it in quotes',
  [KEY]: 'a key must be a word, not a list or a {{ template }}: put it in quotes',
  [PROTOTYPE]: 'this name is not allowed: use another one',
};

/** @returns the line of the innermost key that exists */
export function lineOf(document: Document, lines: LineCounter, keys: string[]): number {
  let node: unknown = document.contents;
  let offset = 0;
  for (const key of keys) {
    const found = childrenOf(node).find((it) => it.key === key);
    if (found === undefined) break;
    offset = found.at;
    node = found.value;
  }
  return lines.linePos(offset).line;
}

/** Sorts servers as in the file, because objects put keys that look like numbers first. */
export function inOrderOfFile(document: Document, configuration: Configuration): Configuration {
  for (const [name, fleet] of Object.entries(configuration.fleets ?? {})) {
    const node = document.getIn(['fleets', name, 'servers']);
    const keys = isMap(node) ? node.items.map(({ key }) => (isScalar(key) ? String(key.value) : '')) : [];
    const place = (serverId: string) => keys.indexOf(serverId);
    fleet.servers = new Map([...fleet.servers].sort(([a], [b]) => place(a) - place(b)));
  }
  return configuration;
}

/** Finds valid YAML that plain objects cannot represent. */
function unusableNode(document: Document): { code: string; at: number; detail: string } | null {
  const found: { code: string; at: number; detail: string }[] = [];
  const add = (code: string, node: Node | null) => void found.push({ code, at: node?.range?.[0] ?? 0, detail: '' });
  visit(document, {
    Alias(_key, node) {
      if (node.resolve(document) === undefined) add('BAD_ALIAS', node);
    },
    Pair(_key, { key, value }) {
      if (!isWord(key)) add(KEY, (key ?? value) as Node | null);
      else if (key.value === PROTOTYPE) add(PROTOTYPE, key);
    },
  });
  return found[0] ?? null;
}

/** Keys and ids keep the digits that the file has. */
function keepAsWritten(document: Document, isText: (keys: readonly string[]) => boolean): void {
  visit(document, {
    Scalar(key, node, path) {
      if (typeof node.value !== 'number') return;
      const keys = path.flatMap((it) => {
        if (isPair(it)) return [nameOf(it.key)];
        return isSeq(it) ? ['0'] : [];
      });
      if (key === 'key' || isText(keys)) node.value = written(node);
    },
  });
}

const written = (node: Scalar): string => node.source ?? String(node.value);

function isSameKey(a: Node, b: Node): boolean {
  return a === b || (isScalar(a) && isScalar(b) && written(a) === written(b));
}

/** After an entry without a value, the parser reports the end of that entry, but the error is in the next one. */
function errorOffset({ code, pos: [at] }: YAMLParseError, text: string): number {
  if (code !== 'DUPLICATE_KEY' && code !== 'BAD_INDENT') return at;
  const next = at + (/^(?:\s|#[^\n]*\n)*/.exec(text.slice(at))?.[0].length ?? 0);
  return next < text.length ? next : at;
}

/** @returns the keys around an offset in the text, outermost first */
function keysAt(document: Document, offset: number): string[] {
  const keys: string[] = [];
  let node: unknown = document.contents;
  for (;;) {
    const around = childrenOf(node).findLast(({ at }) => at <= offset);
    if (around === undefined || around.key === UNNAMED) return keys;
    keys.push(around.key);
    node = around.value;
  }
}

function childrenOf(node: unknown): { key: string; at: number; value: unknown }[] {
  if (isMap(node)) return node.items.map(({ key, value }) => ({ key: nameOf(key), at: startOf(key), value }));
  if (isSeq(node)) return node.items.map((value, index) => ({ key: String(index), at: startOf(value), value }));
  return [];
}

const UNNAMED = '?';

function nameOf(key: unknown): string {
  if (isWord(key)) return String(key.value);
  return isAlias(key) ? `*${key.source}` : UNNAMED;
}

function isWord(key: unknown): key is Scalar {
  return isScalar(key) && key.value !== null && key.value !== '';
}

const startOf = (node: unknown): number => (node as Node | null)?.range?.[0] ?? Infinity;
