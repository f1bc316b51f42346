import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newIdentity } from '../../src/worker/sdk-workers.ts';

test('workers of one process that start at the same moment have different identities', () => {
  const identities = Array.from({ length: 100 }, () => newIdentity('https://panel.example', '1'));
  assert.equal(new Set(identities).size, 100);
});
