/** The lines of `belay schedule list` about what a schedule started. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stateLines } from '../../src/features/schedules/actions.ts';
import type { Firing, ScheduleState } from '../../src/starter.ts';

const FIRING: Firing = {
  firedAt: '2026-11-21T02:30:00.000Z',
  workflowId: 'rollout:steady:shop.nightly.2026-11-21',
  outcome: 'not_started',
  forgotten: false,
  alreadyStarted: false,
  frozen: null,
};

function lastLine(firing: Partial<Firing>): string | undefined {
  const schedule: ScheduleState = {
    ...{ scheduleId: 'belay:shop:nightly', answered: true, when: 'every day at 02:30', timeZone: 'UTC' },
    ...{ paused: false, note: null, next: [], last: [{ ...FIRING, ...firing }], skipped: 0, missed: 0 },
  };
  return stateLines(schedule).find((it) => it.startsWith('  last: '));
}

test('a firing that a freeze stopped shows its state and its id, because a part of it may be deployed', () => {
  const frozen = 'stopped: server 13: frozen by "freeze:fleet:shop" until 2026-11-22 00:00 (UTC) because "sale"';
  const line = lastLine({ frozen });
  assert.match(
    line ?? '',
    / not_started {2}rollout:steady:shop\.nightly\.2026-11-21 {2}stopped: server 13: frozen by /,
  );
  assert.doesNotMatch(lastLine({}) ?? '', /frozen/);
});
