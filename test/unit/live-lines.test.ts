import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createLiveLines, fitting, screenWidth } from '../../src/process/live-lines.ts';
import { boardPage } from '../../src/features/board/page.ts';
import { boardStatusOf } from '../../src/features/board/status.ts';
import { nowMs, pastOf, seen, site, verdict } from '../support/board.ts';
import { screenOf } from '../support/screen.ts';

test('live lines replace each other, and what is printed after they are kept begins below them', () => {
  const { stream, rows } = screenOf();
  stream.write('before\n');
  const live = createLiveLines(stream);
  live.draw(['a', '  b', 'c']);
  assert.deepEqual(rows(), ['before', 'a', '  b', 'c']);
  live.draw(['d']);
  assert.deepEqual(rows(), ['before', 'd']);
  live.keep();
  stream.write('after');
  assert.deepEqual(rows(), ['before', 'd', 'after']);
  live.clear();
  assert.deepEqual(rows(), ['before', 'd', 'after']);
});

test('live lines and the board name commands that the reader can run', () => {
  const { stream, rows } = screenOf({ columns: 60 });
  const sentence = 'waits: `belay approve deploy:1:k`';
  createLiveLines(stream).draw([sentence]);
  assert.deepEqual(rows(), ['waits: `npx belay-deploy approve deploy:1:k`']);
  const past = pastOf({ 'site:a1': [verdict({ outcome: 'failed', error: sentence })] });
  const page = boardPage(boardStatusOf(seen({ targets: [site('a1')], past }), nowMs));
  assert.ok(page.includes(rows()[0]!), page);
});

test('live lines that wrapped because the screen became narrower are removed whole', () => {
  const { stream, rows, resize } = screenOf({ columns: 40 });
  stream.write('before\n');
  const live = createLiveLines(stream);
  live.draw(['x'.repeat(39), 'y'.repeat(30)]);
  resize(25);
  live.draw(['z']);
  assert.deepEqual(rows(), ['before', 'z']);
});

test('live lines keep to the rows and columns of the screen, also where characters take two columns', () => {
  const { stream, rows } = screenOf({ columns: 30, rows: 4 });
  createLiveLines(stream).draw(['部署'.repeat(20), 'b'.repeat(50), 'c', 'd', 'e']);
  assert.equal(rows().length, 3);
  for (const row of rows()) assert.ok(screenWidth(row) <= 29, row);
  assert.match(rows()[0] ?? '', /^(部署)+部?…$/);
});

test('live lines are painted after they are cut, and text from outside brings no control characters', () => {
  const { stream, rows, raw } = screenOf({ columns: 21 });
  const paint = (text: string) => `\u001b[31m${text}\u001b[39m`;
  createLiveLines(stream).draw([{ text: `\u001b[2J${'x'.repeat(40)}\u0007`, paint }, 'plain\u202e']);
  assert.equal(raw(), `\u001b[31m [2J${'x'.repeat(15)}…\u001b[39m\nplain `);
  assert.deepEqual(rows(), [` [2J${'x'.repeat(15)}…`, 'plain ']);
});

test('property: text that is cut fits, and text that fits is left as it is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), fc.integer({ min: 1, max: 60 }), (text, columns) => {
      const shown = fitting(text, columns);
      assert.ok(screenWidth(shown) <= columns, shown);
      if (screenWidth(text) <= columns) assert.equal(shown, text);
    }),
  );
});
