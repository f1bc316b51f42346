/** What `belay doctor` finds about runs that repositories should get. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { reportsFinding } from '../../src/features/notifications/doctor.ts';

const FULL = 'ab'.repeat(20);
const runs = (...commits: (string | null)[]) =>
  commits.map((commit, at) => ({ workflowId: `deploy:34:${at}`, commit }));

describe('belay doctor, about reports,', () => {
  test('warns of runs with a short commit, names the newest, and how to name it in full', () => {
    const { state, message, remedy } = reportsFinding(runs(null, 'ab'.repeat(32), FULL, 'abcdef1'));
    assert.equal(state, 'warning');
    assert.equal(
      message,
      '2 of the last 3 runs with a commit were not reported, such as deploy:34:1 with abababababab',
    );
    assert.match(remedy ?? '', /all 40 hex digits/);
  });

  test('finds nothing wrong with runs that name a full commit, or none', () => {
    assert.equal(reportsFinding(runs(FULL, null, FULL.toUpperCase())).state, 'ok');
    assert.equal(reportsFinding(runs(null)).state, 'skipped');
  });
});
