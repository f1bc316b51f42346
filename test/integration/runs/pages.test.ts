/** What the pages of a run and its operations show in the Temporal UI. test/ui looks at them in a browser. */
import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { WorkflowHandle } from '@temporalio/client';
import { backupServerId, deploySiteId } from '../../../src/contract/ids.ts';
import { eventually } from '../../support/eventually.ts';
import { resultOf } from '../../support/outcome.ts';
import { sharedStack } from '../../support/shared-stack.ts';
import { fresh, type TestStack } from '../../support/world.ts';

const OFTEN = { intervalMs: 300, tries: 400 };

let world: TestStack;
before(async () => {
  world = await sharedStack();
});

const staticOf = async (handle: WorkflowHandle) => (await (await handle.describe()).staticDetails()) ?? '';

async function currentOf(handle: WorkflowHandle): Promise<string> {
  const { currentDetails } = await handle.query<{ currentDetails: string }>('__temporal_workflow_metadata');
  return currentDetails;
}

test('the page of a run shows who started it, what it does, where, with which notes, budgets and operations', async () => {
  const [serverId, siteId] = [fresh('s'), fresh('a')];
  const run = await world.belay.start(
    { serverId, siteIds: [siteId], backup: OFTEN, deploy: OFTEN, meta: { commit: 'ab12cd3' } },
    { key: 'k1' },
  );
  const handle = world.client.workflow.getHandle(run.workflowId);
  const page = await staticOf(handle);
  assert.ok(
    page.startsWith(`Backs up server \`${serverId}\`, waits until the backup is completed, then deploys`),
    page,
  );
  assert.match(page, /\*\*Started by\*\*: `[^`]+@[^`]+`/);
  assert.ok(page.includes(`**Service**: \`${world.sandbox.url}\``), page);
  assert.ok(page.includes('- `commit`: `ab12cd3`'), page);
  assert.ok(page.includes('at most 400 tries, one every 300ms: 2m in all'), page);
  for (const id of [backupServerId(serverId), deploySiteId(siteId)]) {
    const query = encodeURIComponent(`WorkflowId="${id}"`);
    assert.ok(page.includes(`[\`${id}\`](namespaces/{namespace}/workflows?query=${query})`), page);
  }

  const evidence = (await resultOf(run)).deployments[0]?.evidence ?? 'none';
  const now = await currentOf(handle);
  const { runId } = await world.client.workflow.getHandle(deploySiteId(siteId)).describe();
  const link = `namespaces/{namespace}/workflows/${encodeURIComponent(deploySiteId(siteId))}/${runId}`;
  const rows = now.split('\n').filter((line) => line.startsWith('| ['));
  assert.equal(rows.length, 2, now);
  assert.match(rows[0] ?? '', /polls?\s+\|\s`completed`\s+\| –\s+\| completed, id `\d+`, made by this run/);
  assert.ok(rows[1]?.startsWith(`| [site\u00a0\`${siteId}\`](${link})`), now);
  // A busy machine may miss that it was in progress.
  assert.match(rows[1] ?? '', new RegExp(`\`completed\`\\s+\\| ${evidence}\\s+\\| completed`));
  assert.ok(now.includes(`**${evidence}**, `), now);
});

test('the page of an operation in flight shows its run, its budget, the try, the last status and the evidence', async () => {
  const siteId = fresh('a');
  world.sandbox.script({ site: siteId }, { ends: 'never', words: ['bui|ding'] });
  const run = await world.belay.start({ siteIds: [siteId], deploy: OFTEN });
  const handle = world.client.workflow.getHandle(deploySiteId(siteId));
  const now = await eventually('a try', async () => {
    const page = await currentOf(handle).catch(() => '');
    return page.includes('transition') ? page : null;
  });
  assert.match(now, /waits for a final status: try \d+ of 400, last status `bui\|ding`, next read at 20/);
  assert.match(now, /\*\*Request\*\*: sent once, accepted 20\S+Z\n- \*\*Reads\*\*: try\u00a0\d+\u00a0of\u00a0400/);
  assert.match(now, /\*\*Last status\*\*: `bui\|ding`\n- \*\*Read at\*\*: 20\S+Z\n- \*\*Evidence\*\*: transition/);
  const page = await staticOf(handle);
  assert.ok(page.includes(`**Part of**: [\`${run.workflowId}\`](namespaces/{namespace}/workflows/`), page);
  assert.ok(page.includes('**Budget**: at most 400 tries'), page);
  world.sandbox.finish({ site: siteId }, 'completed');
  await resultOf(run);
});

test('the page of a failed run names its error above the table, and what else went wrong in the rows', async () => {
  const [first, second] = [fresh('a'), fresh('a')];
  for (const site of [first, second]) world.sandbox.script({ site }, { durationMs: 500, ends: 'failed' });
  const run = await world.belay.start({ siteIds: [first, second], deploy: OFTEN, keepGoing: true });
  await resultOf(run);
  const now = await currentOf(world.client.workflow.getHandle(run.workflowId));
  assert.match(
    now,
    new RegExp(`^\\*\\*failed\\*\\* \\(DeploymentFailed\\)\\n\\n\`the deployment of site ${first} failed`),
  );
  const rows = now.split('\n').filter((line) => line.startsWith('| ['));
  assert.match(rows[0] ?? '', /\| failed\s+\|$/);
  assert.match(rows[1] ?? '', new RegExp(`\\| failed: \`the deployment of site ${second} failed`));
});
