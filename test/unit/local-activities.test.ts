import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

test('every local activity has one attempt', () => {
  const folder = new URL('../../src/workflows/', import.meta.url);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  const texts = files.map((name) => readFileSync(new URL(name, folder), 'utf8'));
  const withProxies = texts.filter((text) => text.includes('proxyLocalActivities<'));
  assert.ok(withProxies.length > 0);
  for (const text of withProxies) {
    assert.ok(text.includes('const ONCE = { maximumAttempts: 1 };'));
    for (const [, options = ''] of text.matchAll(/proxyLocalActivities<\w+>\(([^)]*)\)/g)) {
      assert.match(options, /retry: ONCE/);
    }
  }
});
