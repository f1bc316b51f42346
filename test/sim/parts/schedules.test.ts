import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { playTwice } from '../checks/check-other-plays.ts';
import { everySecondOff } from '../checks/check-seed.ts';
import { eventsOf } from '../stack/inspect.ts';
import { sharedSandboxes } from '../stack/shared-sandboxes.ts';
import { broken, playSchedule, type SchedulePlay } from '../plays/schedule-play.ts';
import type { Run } from '../temporal/types.ts';

const SEEDS = [1, 2, 3, 4];

describe('the firings of a schedule in virtual time', () => {
  const plays: SchedulePlay[] = [];

  test(`in ${SEEDS.length} plays, each slot starts one run, and a firing that comes too late none, with caches or without`, async () => {
    const sandboxes = await sharedSandboxes();
    for (const seed of SEEDS) {
      const { first, findings } = await playTwice(sandboxes, seed, playSchedule, everySecondOff(seed));
      assert.deepEqual(findings, [], `seed ${seed}`);
      plays.push(first);
    }
    const firings = plays.flatMap((it) => it.firings);
    const started = firings.filter((it) => eventsOf(it, 'childStarted').length > 0);
    const refused = firings.filter((it) => eventsOf(it, 'childRefused').length > 0);
    const skipped = firings.length - started.length - refused.length;
    assert.ok(
      started.length > 0 && refused.length > 0 && skipped > 0,
      `${started.length}, ${refused.length}, ${skipped}`,
    );
    const overlaps = started.some((it) =>
      started.some((other) => other.startedMs > it.startedMs && other.startedMs < it.closedMs!),
    );
    assert.ok(overlaps, 'no runs overlap');
  });

  test('a slot that starts two runs, or none, is a finding', () => {
    const isRefused = (it: Run) => eventsOf(it, 'childRefused').length > 0;
    const { world, firings } = plays.find((it) => it.firings.some(isRefused))!;
    const refused = firings.find(isRefused)!;
    const own = firings.find((it) => it.startedMs === refused.startedMs && eventsOf(it, 'childStarted').length > 0)!;
    const { history } = refused;
    refused.history = [...history, ...eventsOf(own, 'childStarted')];
    assert.match(broken(world, firings).join('\n'), /started 2 runs$/m);
    [refused.history, own.history] = [history, own.history.filter(({ kind }) => kind !== 'childStarted')];
    assert.match(broken(world, firings).join('\n'), /started no run$/m);
  });
});
