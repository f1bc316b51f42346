import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from '@temporalio/client';
import { connect } from '../../../src/starter.ts';
import { atEnd } from '../../support/at-end.ts';
import { connectTo } from '../../support/connect.ts';
import { eventually } from '../../support/eventually.ts';
import { runInProcess } from '../../support/in-process.ts';
import { newPlace } from '../../support/shared-temporal.ts';
import { temporalEnv } from '../../support/world.ts';

test('a schedule that Temporal does not answer for is listed as such, and the others with their times', async () => {
  const place = await newPlace();
  const { namespace } = place;
  const connection = await connectTo(place.address);
  atEnd(() => connection.close());
  const client = new Client({ connection, namespace });
  await client.schedule.create({
    ...{ scheduleId: 'belay:fleet:good', spec: { timezone: 'Asia/Tokyo' }, state: { paused: true, note: 'a move' } },
    action: {
      type: 'startWorkflow',
      workflowType: 'runScheduled',
      taskQueue: 'nobody',
      args: [{ when: '30 2 * * *' }],
    },
  });
  // Temporal keeps a schedule in a workflow of its own. No worker takes this one up.
  await client.workflow.start('temporal-sys-scheduler-workflow', {
    ...{ workflowId: 'temporal-sys-scheduler:belay:fleet:stuck', taskQueue: 'nobody' },
    searchAttributes: { TemporalNamespaceDivision: ['TemporalScheduler'] },
  });
  const belay = await connect({ connection, namespace });
  const listed = await eventually('both, and an answer for one', async () => {
    const all = await belay.schedules.list();
    return all.length === 2 && all[0]?.answered === true && all;
  });
  const shown = listed.map((it) => [it.scheduleId, it.answered, it.when, it.timeZone, it.paused, it.note]);
  assert.deepEqual(shown, [
    ['belay:fleet:good', true, '30 2 * * *', 'Asia/Tokyo', true, 'a move'],
    ['belay:fleet:stuck', false, null, 'UTC', false, null],
  ]);
  const { code, stdout } = await runInProcess(['schedule', 'list'], temporalEnv(place));
  assert.equal(code, 0);
  assert.match(stdout, /^belay:fleet:stuck {2}Temporal does not answer for it; this may be old \(UTC\)$/m);
});
