/** The table of docs/explanation/doors.md shows the cells that are played, and why the others cannot exist. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { CELLS, PLAYED } from '../sim/rules/doors/cells.ts';
import { DOOR_NAMES } from '../sim/rules/doors/doors.ts';
import { RULE_NAMES } from '../sim/rules/doors/rules.ts';
import { ROOT } from '../support/readme.ts';

const PAGE = readFileSync(new URL('docs/explanation/doors.md', ROOT), 'utf8');
const [HEAD = [], ...ROWS] = PAGE.split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| --'))
  .map((line) => line.split('|').slice(1, -1))
  .map((cells) => cells.map((cell) => cell.trim().replaceAll('`', '')));

/** The reasons by their letters. */
const REASONS = new Map(
  PAGE.split(/^- \*\*/m)
    .slice(1)
    .map((it) => it.split('**: ') as [string, string])
    .map(([letter, text]) => [letter, text.replace(/\s+/g, ' ').trim()]),
);

test('the table of doors has a row for every door and a column for every rule', () => {
  assert.deepEqual(HEAD, ['door', ...RULE_NAMES]);
  assert.deepEqual(
    ROWS.map(([door]) => door),
    DOOR_NAMES,
  );
});

test('every cell of the table of doors has a test, or the reason why it cannot exist', () => {
  const shown = ROWS.flatMap((row) => row.slice(1).map((cell) => REASONS.get(cell) ?? cell));
  assert.deepEqual(
    shown,
    CELLS.map(({ reason }) => reason ?? 'holds'),
  );
  const played = new Set(PLAYED.map(({ test: name }) => name));
  assert.deepEqual(
    CELLS.filter(({ test: name }) => name !== null && !played.has(name)),
    [],
  );
});
