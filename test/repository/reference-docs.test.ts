import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { PAGES, pageText, pathOf } from '../../tools/docs.ts';

for (const name of Object.keys(PAGES) as (keyof typeof PAGES)[]) {
  test(`docs/reference/${name} is what the tool writes`, async () => {
    const written = await readFile(pathOf(name), 'utf8').catch(() => 'missing');
    assert.equal(written, await pageText(name), `docs/reference/${name} is out of date: npm run generate`);
  });
}
