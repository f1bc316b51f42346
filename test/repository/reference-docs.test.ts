import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { FILES } from '../../tools/generate.ts';

for (const { name, path, text } of FILES) {
  test(`${name} is what the tool writes`, async () => {
    const written = await readFile(path, 'utf8').catch(() => 'missing');
    assert.equal(written, await text(), `${name} is out of date: npm run generate`);
  });
}
