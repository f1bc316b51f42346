/** belay.yaml as YAML: what is wrong with it as such, and where its keys stand. */
import {
  isAlias,
  isMap,
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

interface Broken {
  line: number;
  keys: string[];
  message: string;
}

/** Ids and labels stand below these: what looks like a number is to be taken as it was written, like 0012 or 1e3. */
const WRITTEN_BELOW = [
  /^fleets\./,
  /^schedules\.[^.]*\.(start\.|heartbeat\.$)/,
  /^rollouts\.[^.]*\.(fleet\.$|waves\..*labels\.)/,
  // Names.
  /^(rollouts|schedules|notify\.targets|notify\.heartbeats|events\.sources)\.[^.]*\.$/,
];

/** Objects don't take it as a key of their own. */
const PROTOTYPE = '__proto__';
/** No word, but a list, other keys, or nothing. */
const KEY = 'KEY';

/** @returns with what it holds as plain objects */
export function parseFile(
  text: string,
  lines: LineCounter,
): { document: Document; content: unknown } | { broken: Broken } {
  if (/[\0\uFFFD]/.test(text))
    return { broken: { line: 1, keys: [], message: 'it is no text in UTF-8: save it as such' } };
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: isSameKey });
  const [error] = document.errors;
  const broken =
    error === undefined
      ? unusableNode(document)
      : { code: error.code, at: placeOfError(error, text), said: error.message };
  if (broken !== null) {
    const message = REMEDIES[broken.code] ?? `this is no YAML: ${broken.said}`;
    const keys = broken.code === 'MULTIPLE_DOCS' ? [] : keysAt(document, broken.at);
    return { broken: { line: lines.linePos(broken.at).line, keys, message } };
  }
  keepWritten(document);
  try {
    return { document, content: document.toJS() as unknown };
  } catch {
    return { broken: { line: 1, keys: [], message: 'its *aliases make it too large: write out what they stand for' } };
  }
}

const REMEDIES: Partial<Record<string, string>> = {
  BAD_ALIAS: 'what begins with * is YAML for something else: put it in quotes',
  UNEXPECTED_TOKEN: 'this is no YAML: text with signs like * or : goes in quotes',
  DUPLICATE_KEY: 'it stands there twice: keep one',
  MULTIPLE_DOCS: 'the file has two documents: take the line --- out',
  MISSING_CHAR: 'a quote or bracket is open to the end: close it',
  BLOCK_AS_IMPLICIT_KEY: 'two keys stand in one line: begin a line after the first one, or put the text in quotes',
  BAD_INDENT: 'indent it as what stands beside it, and close brackets before it',
  TAB_AS_INDENT: 'it is indented with a tab: use blanks',
  BAD_SCALAR_START: 'what begins with such a sign goes in quotes',
  [KEY]: 'a key is a word: put it in quotes, and a list or {{ template }} is none',
  [PROTOTYPE]: 'this can be no name: take another',
};

/** Of the innermost of the keys that is there. */
export function lineOf(document: Document, lines: LineCounter, keys: string[]): number {
  let node: unknown = document.contents;
  let offset = 0;
  for (const key of keys) {
    const found = inside(node, key);
    if (found === null) break;
    offset = found.offset ?? offset;
    node = found.value;
  }
  return lines.linePos(offset).line;
}

/** Objects put keys that look like numbers first; which servers come first is what the file says. */
export function inOrderOfFile(document: Document, configuration: Configuration): Configuration {
  for (const [name, fleet] of Object.entries(configuration.fleets ?? {})) {
    const node = document.getIn(['fleets', name, 'servers']);
    const keys = isMap(node) ? node.items.map(({ key }) => (isScalar(key) ? String(key.value) : '')) : [];
    const place = (serverId: string) => keys.indexOf(serverId);
    fleet.servers = new Map([...fleet.servers].sort(([a], [b]) => place(a) - place(b)));
  }
  return configuration;
}

/** What is well-formed, and couldn't be made into objects without losing it. */
function unusableNode(document: Document): { code: string; at: number; said: string } | null {
  const found: { code: string; at: number; said: string }[] = [];
  const add = (code: string, node: Node | null) => void found.push({ code, at: node?.range?.[0] ?? 0, said: '' });
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

function keepWritten(document: Document): void {
  visit(document, {
    Scalar(_key, node, path) {
      if (typeof node.value !== 'number') return;
      const keys = path.map((it) => ('key' in it && isScalar(it.key) ? `${String(it.key.value)}.` : '')).join('');
      if (WRITTEN_BELOW.some((place) => place.test(keys))) node.value = written(node);
    },
  });
}

const written = (node: Scalar): string => node.source ?? String(node.value);

function isSameKey(a: Node, b: Node): boolean {
  return a === b || (isScalar(a) && isScalar(b) && written(a) === written(b));
}

/** After an entry without a value the parser names its end, where the next one is meant. */
function placeOfError({ code, pos: [at] }: YAMLParseError, text: string): number {
  if (code !== 'DUPLICATE_KEY' && code !== 'BAD_INDENT') return at;
  const meant = at + (/^(?:\s|#[^\n]*\n)*/.exec(text.slice(at))?.[0].length ?? 0);
  return meant < text.length ? meant : at;
}

/** The keys around a place in the text. */
function keysAt(document: Document, offset: number): string[] {
  const keys: string[] = [];
  let node: unknown = document.contents;
  for (;;) {
    const children: { key: string; at: number; value: unknown }[] = isMap(node)
      ? node.items.map(({ key, value }) => ({ key: nameOf(key), at: startOf(key), value }))
      : isSeq(node)
        ? node.items.map((value, index) => ({ key: String(index), at: startOf(value), value }))
        : [];
    const around = children.findLast(({ at }) => at <= offset);
    if (around === undefined || around.key === NO_WORD) return keys;
    keys.push(around.key);
    node = around.value;
  }
}

const NO_WORD = '?';

const nameOf = (key: unknown): string => (isWord(key) ? String(key.value) : isAlias(key) ? `*${key.source}` : NO_WORD);

function isWord(key: unknown): key is Scalar {
  return isScalar(key) && key.value !== null && key.value !== '';
}

const startOf = (node: unknown): number => (node as Node | null)?.range?.[0] ?? Infinity;

function inside(node: unknown, key: string): { offset: number | undefined; value: unknown } | null {
  if (isSeq(node)) {
    const value = node.items[Number(key)] as Node | undefined;
    return value === undefined ? null : { offset: value.range?.[0], value };
  }
  const pair = isMap(node)
    ? node.items.find((item) => isScalar(item.key) && String(item.key.value) === key)
    : undefined;
  return isScalar(pair?.key) ? { offset: pair.key.range?.[0], value: pair.value } : null;
}
