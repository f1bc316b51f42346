/** One case of each mechanism that waits, with the time budgets of production. Most other tests use shorter ones. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { TIMING } from '../../../src/contract/timing.ts';
import { backupServerId, deploySiteId } from '../../../src/contract/ids.ts';
import { eventually } from '../../support/eventually.ts';
import { began, posts, reads } from '../../support/journal.ts';
import { resultOf } from '../../support/outcome.ts';
import { requestsAt } from '../../support/queued.ts';
import { COMPLETED, FAILED, siteAfter } from '../../support/sites.ts';
import { fresh, startTestStack, type TestStack } from '../../support/world.ts';

const PACE = { intervalMs: 1_000, tries: 120 };

let world: TestStack;
before(async () => {
  world = await startTestStack({ defaults: { backup: { ends: 'never' } } });
});

/** The time between two timestamps of a workflow, by its own clock. */
const between = (from?: string | null, to?: string | null) => Date.parse(to ?? '') - Date.parse(from ?? '');

const backUp = (serverId: string, pace = PACE) => world.belay.start({ serverId, siteIds: [], backup: pace });
const backupOf = (serverId: string) =>
  eventually('the backup', () => began(world.sandbox, 'backup', serverId)[0]?.began?.id);

// Each test has sites and servers of its own, and all of them wait.
describe('with the time budgets of production', { concurrency: true }, () => {
  test('an ambiguous deployment POST without a trace is sent once more, after the first has certainly ended', async () => {
    const siteId = siteAfter(world.sandbox, FAILED, COMPLETED);
    world.sandbox.fault({ route: 'deploy', target: siteId, answer: { kind: 'none' } });
    // The long interval lets a busy machine read late.
    const deploy = { intervalMs: 20_000, tries: 20, settleMs: TIMING.verdict.minSettleMs };
    const { outcome, error, deployments } = await resultOf(await world.belay.start({ siteIds: [siteId], deploy }));
    assert.equal(outcome, 'completed', error?.message);
    assert.deepEqual(deployments[0]?.trigger, { attempts: 2, ambiguous: true, reconciledBy: 'resent' });
    const [first, second] = posts(world.sandbox, `/v1/sites/${siteId}/deploy`);
    // Without the fence: the first may have been sent that much later than it was scheduled.
    const least = TIMING.post.answerMs + TIMING.post.spareMs + TIMING.verdict.minSettleMs;
    assert.ok(between(first?.at, second?.at) >= least);
  });

  test('an ambiguous backup POST leads to another backup', async () => {
    const serverId = fresh('s');
    world.sandbox.script({ server: serverId }, COMPLETED, COMPLETED);
    world.sandbox.fault({ route: 'create-backup', target: serverId, effect: true, answer: { kind: 'none' } });
    const { outcome, backup } = await resultOf(await backUp(serverId));
    assert.deepEqual([outcome, backup?.trigger.reconciledBy], ['completed', 'resent']);
    assert.equal(began(world.sandbox, 'backup', serverId).length, 2);
  });

  test('a POST answered after half of its time budget is accepted', async () => {
    const siteId = siteAfter(world.sandbox, FAILED, COMPLETED);
    const delayMs = TIMING.post.answerMs / 2;
    world.sandbox.fault({ route: 'deploy', target: siteId, answer: { kind: 'true' }, delayMs });
    const { deployments } = await resultOf(await world.belay.start({ siteIds: [siteId], deploy: PACE }));
    assert.deepEqual(deployments[0]?.trigger, { attempts: 1, ambiguous: false, reconciledBy: null });
  });

  test('an unchanged final status settles after the minimum settle time', async () => {
    const siteId = siteAfter(world.sandbox, COMPLETED, COMPLETED);
    const deploy = { ...PACE, settleMs: 0 };
    const { deployments } = await resultOf(await world.belay.start({ siteIds: [siteId], deploy }));
    const [deployment] = deployments;
    assert.deepEqual([deployment?.outcome, deployment?.evidence], ['completed', 'settled']);
    assert.ok(between(deployment?.startedAt, deployment?.endedAt) >= TIMING.verdict.minSettleMs);
  });

  test('a token refused permanently ends the wait after the minimum total time', async () => {
    const serverId = fresh('s');
    const run = await backUp(serverId, { intervalMs: 1_000, tries: 2 });
    const target = await backupOf(serverId);
    world.sandbox.fault({ route: 'backup', target, times: 99, answer: { kind: 'status', code: 401 } });
    const { outcome, error, backup } = await resultOf(run);
    assert.deepEqual([outcome, error?.type], ['unknown', 'Refused']);
    assert.ok(between(backup?.startedAt, backup?.endedAt) > TIMING.poll.minWholeMs - TIMING.poll.unauthorizedPauseMs);
  });

  test('a read with a refused token is repeated long before the interval elapses', async () => {
    const serverId = fresh('s');
    const run = await backUp(serverId, { intervalMs: 600_000, tries: 1 });
    const target = await backupOf(serverId);
    // Each read that is refused is made once more, by another worker if there is one.
    world.sandbox.fault({ route: 'backup', target, times: 2, answer: { kind: 'status', code: 401 } });
    await eventually('the wait', async () => (await run.status()).waiting?.kind === 'backup');
    // The only hint: the next read follows from the first one.
    await world.client.workflow.getHandle(backupServerId(serverId)).signal('hint');
    await eventually('both refused reads', () => reads(world.sandbox, `/v1/backups/${target}`).length > 1);
    world.sandbox.finish({ server: serverId }, 'completed');
    assert.equal((await run.result()).outcome, 'completed');
  });

  test('a read that hangs is repeated', async () => {
    const serverId = fresh('s');
    const run = await backUp(serverId);
    const target = await backupOf(serverId);
    world.sandbox.fault({ route: 'backup', target, times: 2, answer: { kind: 'none' } });
    await eventually('the next read', () => reads(world.sandbox, `/v1/backups/${target}`).length > 2);
    world.sandbox.finish({ server: serverId }, 'completed');
    assert.equal((await run.result()).outcome, 'completed');
  });

  test('a waiter acquires its lock although the holder was terminated', async () => {
    const siteId = fresh('a');
    world.sandbox.script({ site: siteId }, { ends: 'never' }, { durationMs: 0 });
    const holder = await world.belay.start({ siteIds: [siteId], deploy: PACE });
    await eventually('the deployment', () => began(world.sandbox, 'deployment', siteId).length === 1);
    const waiter = await world.belay.start({ siteIds: [siteId], deploy: PACE });
    await requestsAt(world.client, deploySiteId(siteId), 1);
    await world.client.workflow.getHandle(deploySiteId(siteId)).terminate('by hand');
    world.sandbox.finish({ site: siteId }, 'completed');
    assert.equal((await resultOf(holder)).outcome, 'unknown');
    assert.equal((await resultOf(waiter)).outcome, 'completed');
  });
});
