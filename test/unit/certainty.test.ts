import assert from 'node:assert/strict';
import { test } from 'node:test';
import { whileCertain } from '../../src/rules/trigger-policy.ts';

const MINUTE = 60_000;

test('a request that was not sent is certainly without effect for 15 minutes', () => {
  for (const result of [
    { kind: 'no_effect', message: 'not connected', retryAfterMs: null },
    { kind: 'not_taken', message: 'not connected' },
  ] as const) {
    assert.equal(whileCertain(result, 15 * MINUTE), result);
    const later = whileCertain(result, 15 * MINUTE + 1);
    assert.equal(later.kind, 'reset');
    assert.match(later.message, /not connected; 15m or more passed.*restored/);
  }
});
