import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { exitCodeOfResult } from '../../src/contract/errors.ts';
import type { ErrorType, Outcome } from '../../src/contract/names.ts';

const HERE = new URL('../', import.meta.url);
const TEXTS = new Map(
  readdirSync(HERE, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => new URL(name, HERE))
    .map((file) => [file.href, readFileSync(file, 'utf8')]),
);

/** The text of a file of tests, and of what it imports from other tests: tables of cases are shared. */
const FILES = [...TEXTS].map(([href, text]) => {
  const imported = [...text.matchAll(/from '(\..+?)'/g)].map(([, path = '']) => TEXTS.get(new URL(path, href).href));
  return { text, words: [text, ...imported].join('\n') };
});

type TestFile = (typeof FILES)[number];

const ROWS = readFileSync(new URL('../docs/explanation/verdicts.md', HERE), 'utf8')
  .split('\n')
  .filter((line) => /^\| (?!answer or failure|---)/.test(line))
  .map((line) => line.split('|').slice(1, -1))
  .map((cells) => cells.map((cell) => cell.trim()));

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** The pattern of a test's name. An expression in a template matches any text. */
function pattern(name: string): RegExp {
  return new RegExp(
    `^${name
      .split(/\$\{[^}]*\}/)
      .map(escaped)
      .join('(.+?)')}$`,
  );
}

/** Whether a file has a test with this name. The text that matches an expression must be among its words. */
function has({ text, words }: TestFile, cited: string): boolean {
  return [...text.matchAll(/\btest\(\s*(['"`])(.+?)\1,/g)].some(([, , name = '']) => {
    const [match, ...filled] = pattern(name).exec(cited) ?? [];
    return match !== undefined && filled.every((part) => isWritten(words, part));
  });
}

const isWritten = (words: string, part: string) =>
  new RegExp(`['\\s[(]${escaped(part)}['\\s:,\\])]|'${escaped(part.replace(/^"(.*)"$/, '$1'))}'`).test(words);

test('every row of docs/explanation/verdicts.md names an existing test', () => {
  assert.ok(ROWS.length > 100);
  const missing = ROWS.map((cells) => cells.at(-1) ?? '').filter((cited) => !FILES.some((file) => has(file, cited)));
  assert.deepEqual(missing, []);
});

test('every exit code of docs/explanation/verdicts.md matches its outcome and error', () => {
  for (const [what, , outcome = '', type = '', exit] of ROWS) {
    if (outcome === 'continues') continue;
    const error = type === '–' ? null : { type: type as ErrorType, message: '' };
    assert.equal(String(exitCodeOfResult({ outcome: outcome as Outcome, error })), exit, what);
  }
});

test('a name without a test is detected', () => {
  const cited = 'a deployment POST answered 500 is sent once more after the settle time if it had no effect';
  assert.ok(FILES.some((file) => has(file, cited)));
  assert.ok(!FILES.some((file) => has(file, cited.replace('500', 'with a smile'))));
  assert.ok(!FILES.some((file) => has(file, `${cited} more`)));
});
