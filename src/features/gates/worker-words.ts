/** Puts names into a query of PromQL, so that no name can become a part of the query. */

const WORDS = ['hosts', 'sites', 'servers', 'wave', 'seconds'] as const;
export type Word = (typeof WORDS)[number];

/** What the words stand for. */
export type Words = Record<Exclude<Word, 'seconds'>, readonly string[]> & { seconds: number };

interface Part {
  text: string;
  /** The quotation mark of the string in which it stands, or null. */
  quote: string | null;
}

/** A word with its braces, a quotation mark, a comment, or any other character. */
const OUTSIDE = /\$\{[^}]*\}|\$[A-Za-z_]\w*|["'`]|#[^\n]*|[^]/y;
/** Or an escaped character of a string. */
const IN_STRING = /\$\{[^}]*\}|\$[A-Za-z_]\w*|\\[^]|[^]/y;
/** A string in backticks has no escapes. */
const IN_BACKTICKS = /\$\{[^}]*\}|\$[A-Za-z_]\w*|[^]/y;

/** Whether a text has one of the words, wherever it stands. */
export const namesWord = (text: string): boolean => WORDS.some((it) => new RegExp(`\\$\\{?${it}\\b`).test(text));

/** @returns the words of a query, without repetition. @throws SyntaxError for a word or place that is not allowed */
export function wordsIn(query: string): Word[] {
  const found = partsOf(query).flatMap((part) => wordIn(part) ?? []);
  return [...new Set(found)];
}

/** @throws SyntaxError for a word or place that is not allowed */
export function substitute(query: string, words: Words): string {
  return partsOf(query)
    .map((part) => {
      const word = wordIn(part);
      if (word === null) return part.text;
      if (word === 'seconds') return String(Math.max(1, Math.round(words.seconds)));
      return words[word].map((text) => escapeForString(escapeForExpression(text))).join('|');
    })
    .join('');
}

function partsOf(query: string): Part[] {
  const parts: Part[] = [];
  let quote: string | null = null;
  for (let at = 0; at < query.length;) {
    const token: RegExp = quote === null ? OUTSIDE : quote === '`' ? IN_BACKTICKS : IN_STRING;
    token.lastIndex = at;
    const text: string = token.exec(query)![0];
    at += text.length;
    const isComment = quote === null && text.startsWith('#');
    if (!isComment) parts.push({ text, quote });
    if (quote === text) quote = null;
    else if (quote === null && /^["'`]$/.test(text)) quote = text;
  }
  return parts;
}

function wordIn({ text, quote }: Part): Word | null {
  const [, name] = /^\$\{?([^}]*?)\}?$/.exec(text) ?? [];
  // `$1` and a `$` alone belong to regular expressions.
  if (name === undefined || name === '') return null;
  const word = WORDS.find((it) => it === name);
  if (word === undefined) throw new SyntaxError(`there is no $${name}: use ${WORDS.map((it) => `$${it}`).join(', ')}`);
  if (quote === '`') throw new SyntaxError(`$${word} cannot be escaped in backticks: use double quotes`);
  if (quote === null && word !== 'seconds')
    throw new SyntaxError(`$${word} stands outside of a string: write label=~"$${word}"`);
  return word;
}

/** RE2's, as in `=~`. */
const escapeForExpression = (text: string): string => text.replace(/[\\.+*?()|[\]{}^$]/g, String.raw`\$&`);

const escapeForString = (text: string): string =>
  text.replace(/[\\"']/g, String.raw`\$&`).replaceAll('\n', String.raw`\n`);
