/** Runs with an outage budget while the service is down. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { exitCodeOfResult } from '../../../../src/contract/errors.ts';
import { QUERIES } from '../../../../src/contract/names.ts';
import type { Explanation } from '../../../../src/contract/waiting.ts';
import { backupServerId, deploySiteId } from '../../../../src/contract/ids.ts';
import { fresh } from '../../../support/fresh.ts';
import { began, reads } from '../../../support/journal.ts';
import { COMPLETED, FAILED, siteAfter } from '../../../support/sites.ts';
import { verdictLine } from '../../../support/verdict-line.ts';
import { ambiguous, beforeRequest, inOutage, parked, PATIENT } from './runs-in-outages.ts';
import { begun, BUILDING, building, deployPosts, latest, phaseOf } from '../runs/runs-that-wait.ts';
import { MOMENT_MS } from '../../stack/stack.ts';

describe('while the service is down', () => {
  test(
    'a run parks after its request and follows its deployment to the verdict afterwards',
    inOutage(async (stack) => {
      const { world, sandbox, result } = stack;
      const { siteId, run, operationId } = await building(stack, PATIENT);
      world.service.isUp = false;
      const { waiting } = await parked(stack, operationId);
      assert.ok(waiting?.kind === 'deployment');
      assert.match(waiting.parked?.reason ?? '', /no connection was made/);
      sandbox.finish({ site: siteId }, 'completed');
      world.service.isUp = true;
      assert.equal(verdictLine(await result(run)), 'completed by transition');
      assert.equal(deployPosts(stack, siteId), 1);
    }),
  );

  test(
    'a parked deployment shows it in its phase, its explanation and the UI',
    inOutage(async (stack) => {
      const { world, sandbox, result, until, query } = stack;
      const { siteId, run, operationId } = await building(stack, PATIENT);
      world.service.isFailing = true;
      assert.equal((await parked(stack, operationId)).phase, 'parked');
      const { sentence } = await query<Explanation>(operationId, QUERIES.why);
      assert.match(
        sentence,
        /parked since 20.*at most until 20.*the service does not answer \(".*503.*next read at 20/,
      );
      const { currentDetails } = await query<{ currentDetails: string }>(operationId, '__temporal_workflow_metadata');
      assert.match(currentDetails, /parked since 20/);
      assert.equal(phaseOf(stack, operationId), 'parked');
      world.service.isFailing = false;
      await until('the end of the outage', () => phaseOf(stack, operationId) === 'wait');
      sandbox.finish({ site: siteId }, 'completed');
      assert.equal(verdictLine(await result(run)), 'completed by transition');
    }),
  );

  test(
    'a request that found no connection is sent once afterwards, with a new baseline',
    inOutage(async (stack) => {
      const { world, sandbox, result } = stack;
      // Meanwhile another party deploys. Its `completed` differs from the first baseline, and is not ours.
      const ours = { ...FAILED, lagMs: 15_000 };
      const { siteId, run, operationId } = await beforeRequest(stack, COMPLETED, ours);
      await parked(stack, operationId);
      sandbox.act({ site: siteId });
      world.service.isUp = true;
      assert.equal(verdictLine(await result(run)), 'failed by changed');
      assert.equal(deployPosts(stack, siteId), 1);
      assert.equal(begun(stack, siteId), 1);
    }),
  );

  test(
    'a run makes its backup and its deployment once when the service is back',
    inOutage(async (stack) => {
      const { world, sandbox, start, result } = stack;
      const [serverId, siteId] = [fresh('s'), siteAfter(sandbox, FAILED, COMPLETED)];
      world.service.isUp = false;
      const run = start({ serverId, siteIds: [siteId], ...PATIENT });
      const { waiting } = await parked(stack, backupServerId(serverId));
      assert.ok(waiting?.kind === 'backup');
      world.service.isUp = true;
      const { outcome, error } = await result(run);
      assert.equal(outcome, 'completed', error?.message);
      assert.equal(began(sandbox, 'backup', serverId).length, 1);
      assert.equal(begun(stack, siteId), 1);
    }),
  );

  test(
    'a run parks while it waits for its backup, and deploys after it',
    inOutage(async (stack) => {
      const { world, sandbox, start, result, until, forward } = stack;
      const [serverId, siteId] = [fresh('s'), siteAfter(sandbox, FAILED, COMPLETED)];
      sandbox.script({ server: serverId }, BUILDING);
      const run = start({ serverId, siteIds: [siteId], ...PATIENT });
      await until('a read of the backup', () => sandbox.journal.at(-1)?.said === 'building');
      await forward(MOMENT_MS);
      world.service.isFailing = true;
      await parked(stack, backupServerId(serverId));
      sandbox.finish({ server: serverId }, 'completed');
      world.service.isFailing = false;
      assert.equal(verdictLine(await result(run)), 'completed by changed');
      assert.equal(began(sandbox, 'backup', serverId).length, 1);
    }),
  );

  test(
    'a parked run that becomes too late for its request ends not started',
    inOutage(async ({ world, sandbox, start, result }) => {
      const siteId = siteAfter(sandbox, FAILED, COMPLETED);
      world.service.isFailing = true;
      // The service stays down, and the budget is used up later.
      const limits = { outageBudgetMs: 40 * 60_000, startDeploysWithinMs: 15 * 60_000 };
      const { outcome, error } = await result(start({ siteIds: [siteId], ...limits }));
      assert.deepEqual([outcome, error?.type], ['not_started', 'TooLate']);
    }),
  );

  test(
    'an ambiguous request is not sent again after an outage',
    inOutage(async (stack) => {
      const { siteId, run, operationId } = await ambiguous(stack, null);
      await parked(stack, operationId);
      stack.world.service.isFailing = false;
      const { outcome, error, deployments } = await stack.result(run);
      assert.deepEqual([outcome, error?.type], ['unknown', 'OutcomeUnknown']);
      assert.match(error?.message ?? '', /left no trace, but the status was not read for a while/);
      assert.equal(deployments[0]?.trigger.attempts, 1);
      assert.equal(deployPosts(stack, siteId), 1);
    }),
  );

  test(
    'an ambiguous request is found by its trace after an outage',
    inOutage(async (stack) => {
      const { siteId, run, operationId } = await ambiguous(stack, { lagMs: 6_000 });
      await parked(stack, operationId);
      stack.world.service.isFailing = false;
      const result = await stack.result(run);
      assert.equal(verdictLine(result), 'completed by changed');
      assert.deepEqual(result.deployments[0]?.trigger, { attempts: 1, ambiguous: true, reconciledBy: 'changed' });
      assert.equal(begun(stack, siteId), 1);
    }),
  );

  test(
    'a used-up outage budget ends a run unknown after its request',
    inOutage(async (stack) => {
      const { run } = await building(stack, { outageBudgetMs: 2_000 });
      stack.world.service.isFailing = true;
      const result = await stack.result(run);
      assert.equal(exitCodeOfResult(result), 4);
      assert.match(result.error?.message ?? '', /503.*the outage budget of 2s is used up/);
    }),
  );

  test(
    'a used-up outage budget ends a run not started before its request',
    inOutage(async ({ world, start, result }) => {
      world.service.isFailing = true;
      const { outcome, error } = await result(start({ siteIds: [fresh('a')], outageBudgetMs: 2_000 }));
      assert.deepEqual([outcome, error?.type], ['not_started', 'Refused']);
      assert.match(error?.message ?? '', /503.*the outage budget of 2s is used up/);
    }),
  );

  test(
    'a run without an outage budget does not park',
    inOutage(async (stack) => {
      const { run } = await building(stack, {});
      stack.world.service.isFailing = true;
      const { outcome, error } = await stack.result(run);
      assert.equal(outcome, 'unknown');
      assert.match(error?.message ?? '', /10 reads in a row failed[^;]*503[^;]*$/);
    }),
  );

  test(
    'a parked run can be cancelled at once',
    inOutage(async (stack) => {
      const { world, cancel, result } = stack;
      const { run, operationId } = await building(stack, PATIENT);
      world.service.isFailing = true;
      await parked(stack, operationId);
      const cancelledMs = world.clock.nowMs;
      cancel(run);
      assert.equal((await result(run)).outcome, 'cancelled');
      // Sooner than its next read.
      assert.ok(world.clock.nowMs - cancelledMs < 1_000);
    }),
  );

  test(
    'a token that is refused after an outage ends the run as without one',
    inOutage(async (stack) => {
      const { world, sandbox, result } = stack;
      const { siteId, run, operationId } = await building(stack, PATIENT);
      world.service.isFailing = true;
      await parked(stack, operationId);
      sandbox.fault({ route: 'latest', target: siteId, times: 999, answer: { kind: 'status', code: 401 } });
      world.service.isFailing = false;
      const { outcome, error } = await result(run);
      assert.deepEqual([outcome, error?.type], ['unknown', 'Refused']);
    }),
  );

  test(
    'a site that was never deployed is deployed after an outage in which the time of its baseline ran out',
    inOutage(async (stack) => {
      const { world, sandbox, start, until, result } = stack;
      const siteId = fresh('a');
      sandbox.fault({ route: 'deploy', target: siteId, effect: false, answer: { kind: 'status', code: 409 } });
      const run = start({ siteIds: [siteId], deploy: { intervalMs: 10_000, tries: 4 }, ...PATIENT });
      await until('the refused request', () => deployPosts(stack, siteId) > 0);
      world.service.isUp = false;
      await parked(stack, deploySiteId(siteId));
      world.service.isUp = true;
      assert.equal(verdictLine(await result(run)), 'completed by transition');
      assert.equal(begun(stack, siteId), 1);
    }),
  );

  test(
    'the time of an outage does not settle the status from before the request',
    inOutage(async (stack) => {
      const { world, sandbox, start, result, until, forward } = stack;
      // What the service shows stays the same until it handles our deployment.
      const siteId = siteAfter(sandbox, COMPLETED, { ends: 'never', words: ['completed'] });
      const settleMs = 60_000;
      const run = start({ siteIds: [siteId], deploy: { settleMs }, ...PATIENT });
      await until('the deployment', () => begun(stack, siteId) > 0);
      const readBefore = reads(sandbox, latest(siteId)).length;
      await until('four reads', () => reads(sandbox, latest(siteId)).length > readBefore + 4);
      world.service.isFailing = true;
      const { result: part } = await parked(stack, deploySiteId(siteId));
      const acceptedMs = 'acceptedAt' in part ? Date.parse(part.acceptedAt ?? '') : NaN;
      await forward(Math.max(0, acceptedMs + settleMs - world.clock.nowMs) + 1);
      const readMeanwhile = reads(sandbox, latest(siteId)).length;
      world.service.isFailing = false;
      await until('a read after it', () => reads(sandbox, latest(siteId)).length > readMeanwhile);
      await forward(MOMENT_MS);
      sandbox.finish({ site: siteId }, 'failed');
      assert.equal(verdictLine(await result(run)), 'failed by changed');
    }),
  );

  test(
    'a run that watches parks as well, and follows what began meanwhile',
    inOutage(async (stack) => {
      const { world, sandbox, start, result, until } = stack;
      const siteId = siteAfter(sandbox, FAILED, COMPLETED);
      const run = start({ siteIds: [siteId], ...PATIENT }, { type: 'watchDeployment' });
      await until('the wait', () => reads(sandbox, latest(siteId)).length > 2);
      world.service.isFailing = true;
      await until('the parked run', () => phaseOf(stack, run.workflowId) === 'parked');
      sandbox.act({ site: siteId });
      world.service.isFailing = false;
      assert.equal(verdictLine(await result(run)), 'completed by changed');
    }),
  );
});
