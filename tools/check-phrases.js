/**
 * Finds phrases that the style in CONTRIBUTING.md replaces. Part of `npm run lint`. A page that has to quote some of
 * them wraps them in `<!-- phrases: off -->` and `<!-- phrases: on -->`.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

/** [phrase, what to do instead]. `~` is white space, a line's end included. */
const PHRASES = [
  ['(?:somebody|someone) else', 'write "another user" or "another run"'],
  ['somebody', 'name the actor, as in "a user" or "another run"'],
  ['whoever', 'name the actor, as in "the caller" or "the sender"'],
  ['nobody', 'name the actor, as in "no worker" or "no user"'],
  ['anew', 'write "again", "restart" or "retry"'],
  ['tells', 'write "reports", "prints", "shows" or "lists"'],
  ['told', 'write "reported", "notified" or "printed"'],
  ['so~many', 'give the number, as in "at most 20"'],
  ['so~long', 'give the duration, as in "up to 30 minutes"'],
  ['so~often', 'give the number, as in "at most 3 times"'],
  ['(?<!\\bthere~)is~no(?!~longer\\b)', 'write "is not a"; "there is no" is fine'],
];

/** Between two words: blanks, or a line's end with the start of a comment's or a quotation's next line. */
const SPACE = '(?:[ \\t]+|[ \\t]*\\r?\\n[ \\t]*(?:(?:\\*|//|>|#)[ \\t]*)?)';
const RULES = PHRASES.map(([phrase, hint]) => ({
  pattern: new RegExp(`(?<![\\w-])${phrase.replaceAll('~', SPACE)}(?![\\w-])`, 'gi'),
  hint,
}));

const CHECKED = ['README.md', 'CONTRIBUTING.md', 'docs', 'src'];
const TEXT = /\.(?:md|mmd|ts|json|ya?ml|txt)$/;
const root = fileURLToPath(new URL('..', import.meta.url));

let found = 0;
for (const file of CHECKED.flatMap(textFiles)) {
  const text = withoutQuotations(readFileSync(join(root, file), 'utf8'));
  for (const { line, column, phrase, hint } of problems(text)) {
    found += 1;
    process.stdout.write(`${file}:${line}:${column}: "${phrase}": ${hint}\n`);
  }
}
if (found > 0) process.stderr.write(`${found} phrases to replace\n`);
process.exitCode = found === 0 ? 0 : 1;

function textFiles(path) {
  const stats = statSync(join(root, path), { throwIfNoEntry: false });
  if (stats === undefined) return [];
  if (!stats.isDirectory()) return [path];
  return readdirSync(join(root, path), { recursive: true, encoding: 'utf8' })
    .filter((name) => TEXT.test(name) && !name.includes('node_modules'))
    .sort()
    .map((name) => join(path, name));
}

/** Keeps the line ends, so that line numbers stay true. */
function withoutQuotations(text) {
  const blank = (match) => match.replaceAll(/[^\n]/g, ' ');
  return text.replaceAll(/<!-- phrases: off -->[^]*?<!-- phrases: on -->/g, blank);
}

/** In the order of the text, and only the first of those that begin at the same place. */
function problems(text) {
  const byPlace = new Map();
  for (const { pattern, hint } of RULES) {
    for (const match of text.matchAll(pattern)) {
      if (!byPlace.has(match.index)) byPlace.set(match.index, { phrase: match[0].replaceAll(/\s+/g, ' '), hint });
    }
  }
  return [...byPlace].sort(([a], [b]) => a - b).map(([index, problem]) => ({ ...placeOf(text, index), ...problem }));
}

function placeOf(text, index) {
  const before = text.slice(0, index).split('\n');
  return { line: before.length, column: (before.at(-1) ?? '').length + 1 };
}
