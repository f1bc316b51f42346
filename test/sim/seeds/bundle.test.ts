import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { BUNDLED, bundleFromSource } from '../../../src/worker/bundle/bundle-from-source.ts';

test('a change of any source file in the bundle of workflows makes a new bundle', async () => {
  const bundle = await readFile(await bundleFromSource(), 'utf8');
  const modules = new Set([...bundle.matchAll(/"\.\/(src\/[\w./-]+\.ts)"/g)].map(([, path = '']) => path));
  assert.ok(modules.size > 50, `${modules.size} modules`);
  const unseen = [...modules].filter((path) => !BUNDLED.some((folder) => path.startsWith(`${folder}/`)));
  assert.deepEqual(unseen, []);
});
