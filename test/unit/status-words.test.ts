import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stateOfStatus } from '../../src/rules/status-words.ts';

test('completed and failed are final regardless of case and blanks, and every other status is in progress', () => {
  assert.equal(stateOfStatus({}, ' Completed '), 'completed');
  assert.equal(stateOfStatus({}, 'FAILED'), 'failed');
  for (const word of ['building', 'cancelled', 'complete', 'success', ''])
    assert.equal(stateOfStatus({}, word), 'in_progress');
});

test('configured status words are final', () => {
  assert.equal(stateOfStatus({ ' Cancelled': 'failed' }, 'CANCELLED '), 'failed');
  assert.equal(stateOfStatus({ completed: 'failed' }, 'completed'), 'completed');
});
