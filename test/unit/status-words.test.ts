import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stateOf } from '../../src/workflows/rules/status-words.ts';

test('completed and failed are final regardless of case and blanks, and every other status is in progress', () => {
  assert.equal(stateOf({}, ' Completed '), 'completed');
  assert.equal(stateOf({}, 'FAILED'), 'failed');
  for (const word of ['building', 'cancelled', 'complete', 'success', ''])
    assert.equal(stateOf({}, word), 'in_progress');
});

test('configured status words are final', () => {
  assert.equal(stateOf({ ' Cancelled': 'failed' }, 'CANCELLED '), 'failed');
  assert.equal(stateOf({ completed: 'failed' }, 'completed'), 'completed');
});
