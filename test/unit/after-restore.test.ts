import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limitReports } from '../../src/features/doctor/after-restore.ts';

test('doctor --after-restore says that there may be more than it looked at', () => {
  assert.deepEqual(limitReports('failed runs', 999), []);
  assert.deepEqual(
    limitReports('failed runs', 1_000).map(({ state, message }) => [state, message]),
    [['warning', 'only the newest 1000 failed runs were looked at']],
  );
});
