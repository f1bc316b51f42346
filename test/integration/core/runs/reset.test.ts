import '../../../support/timing/use-patient.ts';
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { deploySiteId } from '../../../../src/contract/ids.ts';
import { eventually } from '../../../support/eventually.ts';
import { began } from '../../../support/journal.ts';
import { resultOf } from '../../../support/outcome.ts';
import { resetToBeginning, resetToLastRead } from '../../../support/reset.ts';
import { sharedStack } from '../../../support/shared-stack.ts';
import { fresh, type TestStack } from '../../../support/world.ts';

const PACE = { intervalMs: 200, tries: 1_000 };

let world: TestStack;
before(async () => {
  world = await sharedStack();
});

const closed = (workflowId: string, runId: string) =>
  eventually('the end of the operation', async () => {
    const described = await world.client.workflow.getHandle(workflowId, runId).describe();
    return described.status.name === 'RUNNING' ? null : described;
  });

const failureOf = (workflowId: string, runId: string): Promise<string> =>
  world.client.workflow
    .getHandle(workflowId, runId)
    .result()
    .then(
      () => assert.fail('the operation completed'),
      ({ cause }: Error) => String(cause),
    );

describe('resets', { concurrency: 4 }, () => {
  test('a deployment reset to before its trigger sends nothing again and reports that its request may have been sent', async () => {
    const siteId = fresh('a');
    assert.equal((await (await world.belay.start({ siteIds: [siteId], deploy: PACE })).result()).outcome, 'completed');
    const runId = await resetToBeginning(world.client, deploySiteId(siteId));
    const { status } = await closed(deploySiteId(siteId), runId);
    assert.equal(status.name, 'FAILED');
    const error = await failureOf(deploySiteId(siteId), runId);
    assert.match(error, /the operation was reset and may have sent its request before/);
    assert.equal(began(world.sandbox, 'deployment', siteId).length, 1);
  });

  test('a deployment reset while its own is in progress does not take it for that of another run', async () => {
    const siteId = fresh('a');
    world.sandbox.script({ site: siteId }, { ends: 'never' });
    const run = await world.belay.start({ siteIds: [siteId], deploy: { ...PACE, baselineWaitMs: 500 } });
    await eventually('the deployment', () => began(world.sandbox, 'deployment', siteId)[0] ?? null);
    await resetToBeginning(world.client, deploySiteId(siteId));
    const { outcome, error, deployments } = await resultOf(run);
    assert.deepEqual([outcome, deployments[0]?.outcome, error?.type], ['unknown', 'unknown', 'OutcomeUnknown']);
    assert.match(error?.message ?? '', /was reset, and may have sent requests before; .* in progress/);
    assert.equal(began(world.sandbox, 'deployment', siteId).length, 1);
  });

  test('a deployment that is reset after its end takes no later one for its own', async () => {
    const siteId = fresh('a');
    world.sandbox.script({ site: siteId }, { durationMs: 0 }, { durationMs: 0, ends: 'failed' });
    const deploy = async () => {
      const result = await resultOf(await world.belay.start({ siteIds: [siteId], deploy: PACE }));
      return result.deployments[0]!.outcome;
    };
    assert.equal(await deploy(), 'completed');
    const { runId: first } = await world.client.workflow.getHandle(deploySiteId(siteId)).describe();
    assert.equal(await deploy(), 'failed');
    const runId = await resetToLastRead(world.client, deploySiteId(siteId), first);
    const error = await failureOf(deploySiteId(siteId), runId);
    assert.match(error, /"failed" .*, but the workflow was reset, so a later deployment may have that status/);
  });

  test('a run reset to its beginning triggers nothing again and explains what to do', async () => {
    const [serverId, siteId] = [fresh('s'), fresh('a')];
    const run = await world.belay.start({ serverId, siteIds: [siteId], backup: PACE, deploy: PACE });
    assert.equal((await run.result()).outcome, 'completed');
    const runId = await resetToBeginning(world.client, run.workflowId);
    const result = await resultOf(world.belay.get(run.workflowId, runId));
    assert.equal(result.outcome, 'unknown');
    assert.match(result.error?.message ?? '', /the run was reset.*nothing was sent.*start a new run/);
    assert.equal(began(world.sandbox, 'backup', serverId).length, 1);
    assert.equal(began(world.sandbox, 'deployment', siteId).length, 1);
  });
});
