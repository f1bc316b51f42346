/** A Temporal server that is killed with a run in flight, with a worker and a client that wait for it. */
import '../../../support/timing/use-patient.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startSandbox } from '../../../../src/sandbox/server.ts';
import { connect } from '../../../../src/starter.ts';
import { atEnd } from '../../../support/at-end.ts';
import { connectTo } from '../../../support/connect.ts';
import { eventually } from '../../../support/eventually.ts';
import { began, reads } from '../../../support/journal.ts';
import { startDurableTemporal } from '../../../support/temporal.ts';
import { addWorker, TASK_QUEUE, TOKEN } from '../../../support/world.ts';

test('a Temporal server that is killed and restarted loses no run, and nothing is requested twice', async () => {
  const temporal = await startDurableTemporal();
  const sandbox = await startSandbox({ token: TOKEN, defaults: { backup: { ends: 'never' } } });
  atEnd(() => sandbox.close());
  const place = { address: temporal.server.address, namespace: 'default' };
  const worker = await addWorker(place, TASK_QUEUE, sandbox.url);
  const connection = await connectTo(place.address);
  atEnd(() => connection.close());
  const belay = await connect({ connection, namespace: 'default' });
  const run = await belay.start({ serverId: 's1', siteIds: [], backup: { intervalMs: 500, tries: 2_000 } });
  const waiting = run.result();
  const backup = await eventually('the backup', () => began(sandbox, 'backup', 's1')[0]?.began?.id);
  const path = `/v1/backups/${backup}`;
  // A read proves that the request is recorded. Otherwise another backup would be made.
  await eventually('a read', () => reads(sandbox, path).length > 0);
  process.kill(temporal.server.pid, 'SIGKILL');
  await temporal.server.ended;
  await temporal.restart();
  const before = reads(sandbox, path).length;
  await eventually('a read after the restart', () => reads(sandbox, path).length > before);
  sandbox.finish({ server: 's1' }, 'completed');
  const { outcome, backup: result } = await waiting;
  assert.deepEqual([outcome, result?.trigger.attempts], ['completed', 1]);
  assert.equal(began(sandbox, 'backup', 's1').length, 1);
  await worker.stop();
});
