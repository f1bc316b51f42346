/** Keeps the mutants applicable: what they change and the tests that notice them still exist. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { TESTED_MUTANTS } from '../mutants/all.ts';
import { changed, type Mutant } from '../mutants/mutant.ts';
import { MUTANTS } from '../sim/mutants/mutants.ts';

const textOf = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

test('every mutant changes texts that occur exactly once', () => {
  for (const { rule, changes } of [...MUTANTS, ...TESTED_MUTANTS] satisfies Mutant[]) {
    const texts = new Map<string, string>();
    for (const change of changes) {
      const before = texts.get(change.file) ?? textOf(change.file);
      const after = changed(before, change);
      assert.notEqual(after, before, rule);
      texts.set(change.file, after);
    }
  }
});

test('every mutant names a test that exists', () => {
  for (const { rule, test: named } of TESTED_MUTANTS) {
    assert.ok(textOf(`test/${named.file}`).includes(named.name), `${rule}: ${named.file} has no test "${named.name}"`);
  }
});
