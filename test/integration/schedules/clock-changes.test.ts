/** Schedules across clock changes, as Temporal fires them. The rules are tested in test/unit/local-time.test.ts. */
import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { localText, slotOf } from '../../../src/request/calendar/local-time.ts';
import { began } from '../../support/journal.ts';
import { days, definitionsOf } from '../../support/schedule-files.ts';
import { apply, fireFor, matchingTimes, nightly, settled, startStack } from '../../support/schedules.ts';
import type { TestStack } from '../../support/world.ts';

describe('clock changes', { concurrency: 6 }, () => {
  let world: TestStack;
  before(async () => {
    world = await startStack();
  });

  for (const [cron, timeZone, night, firings, firstAt] of [
    ['30 2 * * *', 'Europe/Berlin', '2025-03-30', 1, '03:00'],
    // Temporal fires at both times in the night with two 01:30s.
    ['30 1 * * *', 'America/New_York', '2025-11-02', 2, '01:30'],
  ] as const) {
    test(`${cron} in ${timeZone} runs once in the night of ${night}, when clocks change`, async () => {
      const { file, handle, fleet, serverId } = nightly(world, { cron, timeZone });
      await apply(world, file());
      await fireFor(handle, [night], 'BUFFER_ALL');
      const fired = await settled(world, handle, firings);
      assert.equal(fired.length, firings);
      for (const { result } of fired) assert.equal(result.workflowId, `backup:${serverId}:${fleet}.nightly.${night}`);
      const done = fired.filter(({ result }) => !result.alreadyStarted);
      assert.equal(done.length, 1, 'the repeated time took a second slot');
      assert.equal(began(world.sandbox, 'backup', serverId).length, 1);
      const at = /-(\d{4}-\d\d-\d\dT[\d:]+Z)$/.exec(done[0]?.id ?? '')?.[1] ?? '';
      assert.equal(localText(new Date(at), timeZone), `${night} ${firstAt}`);
    });
  }

  // A past year: of the future, the server and this Node may have time zone data of different age.
  test("Temporal's own times over a year give each local date one slot in zones of every kind", async () => {
    for (const zone of [
      ...['America/Nuuk 23:30', 'America/Santiago 00:30', 'Pacific/Easter 21:15', 'Africa/Cairo 00:00'],
      ...['Asia/Beirut 00:30', 'Africa/Casablanca 02:45', 'Antarctica/Troll 01:30', 'Pacific/Chatham 02:50'],
      ...['Atlantic/Azores 00:15', 'America/Havana 00:15', 'America/St_Johns 01:59', 'Asia/Kolkata 00:00'],
      ...['Europe/Berlin 02:30', 'America/New_York 01:30', 'Australia/Lord_Howe 02:15', 'Australia/Lord_Howe 01:45'],
    ]) {
      const [timeZone = '', hour, minute] = zone.split(/[ :]/);
      const { file, id, handle } = nightly(world, { cron: `${Number(minute)} ${Number(hour)} * * *`, timeZone });
      await apply(world, file());
      const due = await matchingTimes(world, handle, '2025-01-01', '2025-12-31');
      const { slot } = definitionsOf(file())[0]!.input;
      const slots = due.map((at) => slotOf(slot, timeZone, at));
      assert.deepEqual([...new Set(slots)].sort(), days('2025-01-01', 0, 364).map(String), zone);
      await world.belay.schedules.delete(id);
    }
  });
});
