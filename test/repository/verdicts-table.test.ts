import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { exitCodeOf } from '../../src/cli/output/exit-codes.ts';
import type { ErrorType, Outcome } from '../../src/contract/run.ts';

const HERE = new URL('../', import.meta.url);
const FILES = readdirSync(HERE)
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => readFileSync(new URL(name, HERE), 'utf8'));

const ROWS = readFileSync(new URL('../docs/verdicts.md', HERE), 'utf8')
  .split('\n')
  .filter((line) => /^\| (?!answer or failure|---)/.test(line))
  .map((line) => line.split('|').slice(1, -1))
  .map((cells) => cells.map((cell) => cell.trim()));

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** What a test's name is, as a pattern: anything stands where a template has an expression. */
function pattern(name: string): RegExp {
  return new RegExp(
    `^${name
      .split(/\$\{[^}]*\}/)
      .map(escaped)
      .join('(.+?)')}$`,
  );
}

/** Whether a file has a test of this name; what stands for an expression must stand in the file, too. */
function has(file: string, cited: string): boolean {
  return [...file.matchAll(/\btest\(\s*(['"`])(.+?)\1,/g)].some(([, , name = '']) => {
    const [match, ...filled] = pattern(name).exec(cited) ?? [];
    return match !== undefined && filled.every((part) => isWritten(file, part));
  });
}

const isWritten = (file: string, part: string) =>
  new RegExp(`['\\s[(]${escaped(part)}['\\s:,\\])]|'${escaped(part.replace(/^"(.*)"$/, '$1'))}'`).test(file);

test('every row of docs/verdicts.md names a test that there is', () => {
  assert.ok(ROWS.length > 100);
  const missing = ROWS.map((cells) => cells.at(-1) ?? '').filter((cited) => !FILES.some((file) => has(file, cited)));
  assert.deepEqual(missing, []);
});

test('every exit code of docs/verdicts.md is that of its outcome and error', () => {
  for (const [what, , outcome = '', type = '', exit] of ROWS) {
    if (outcome === 'goes on') continue;
    const error = type === '–' ? null : { type: type as ErrorType, message: '' };
    assert.equal(String(exitCodeOf({ outcome: outcome as Outcome, error })), exit, what);
  }
});

test('a name that no test has is noticed', () => {
  const cited = 'a deployment POST answered 500, without effect: sent once more after the settle time, one deployment';
  assert.ok(FILES.some((file) => has(file, cited)));
  assert.ok(!FILES.some((file) => has(file, cited.replace('500', 'with a smile'))));
  assert.ok(!FILES.some((file) => has(file, `${cited} more`)));
});
