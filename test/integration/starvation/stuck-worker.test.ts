import '../../support/timing/use-hanging.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { eventually } from '../../support/eventually.ts';
import { start } from '../../support/processes.ts';
import { belayOn, fresh, startTestStack } from '../../support/world.ts';

/** A program of its own: what is left of such a worker keeps its process up, unless that exits. */
const PROGRAM = fileURLToPath(new URL('../../support/stuck-worker.js', import.meta.url));

test('a worker that is to stop ends even though one of its activities never does', async () => {
  const world = await startTestStack();
  const [taskQueue, { address, namespace, uiUrl, sandbox, client }] = [fresh('queue'), world];
  const given = { place: { address, namespace, uiUrl }, taskQueue, serviceUrl: sandbox.url };
  const { process, output, finished } = start([JSON.stringify(given)], {}, PROGRAM);
  await eventually('the worker', () => output.stdout.includes('polling'));
  const { workflowId } = await (await belayOn(world, taskQueue)).start({ siteIds: [fresh('a')] });
  const run = client.workflow.getHandle(workflowId);
  await eventually('the activity', async () => (await run.describe()).raw.pendingActivities?.[0]?.lastStartedTime);
  process.kill('SIGTERM');
  const { code, stdout, stderr } = await finished;
  assert.equal(code, 7, stderr);
  assert.match(stdout, /TemporalUnreachable: the worker failed/);
  await run.terminate('the test is over');
});
