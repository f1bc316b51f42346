/** Which servers a rollout starts, and when. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { defaultPayloadConverter as payloads } from '@temporalio/common';
import { QUERIES, ROLLOUT_TYPE } from '../../../../src/contract/names.ts';
import type { DeploySiteInput } from '../../../../src/contract/operation.ts';
import type { RunProgress } from '../../../../src/contract/run.ts';
import { deploySiteId } from '../../../../src/contract/ids.ts';
import { MAX_TARGETS } from '../../../../src/request/limits.ts';
import { validateRolloutInput } from '../../../../src/request/input/rollout-input.ts';
import { fresh } from '../../../support/fresh.ts';
import { outcomesOf, rolloutOf, servers } from '../../../support/rollouts.ts';
import { searchAttribute } from '../../stack/inspect.ts';
import { inVirtualTime, type VirtualStack } from '../../stack/stack.ts';
import { endOfRollout, progressOf } from '../../plays/start-rollout.ts';
import { backups, begin, deployments, inFleet } from './rollouts-in-flight.ts';

const fails = ({ sandbox }: VirtualStack, siteId = '') =>
  sandbox.script({ site: siteId }, { durationMs: 30_000, ends: 'failed' });

describe('a rollout', () => {
  test(
    'makes one backup of each server and deploys its sites, wave by wave, with limited concurrency',
    inFleet(async (stack) => {
      const [canary, ...rest] = servers(5, 2);
      const waves = [
        { name: 'canary', targets: [canary] },
        { name: 'rest', targets: rest },
      ];
      const result = await endOfRollout(stack, begin(stack, [], { waves }));
      assert.equal(result.outcome, 'completed', JSON.stringify(result.error));
      assert.deepEqual([result.servers.completed, result.deployments.completed], [5, 10]);
      for (const { serverId, siteIds } of [canary, ...rest]) {
        assert.equal(backups(stack, serverId), 1);
        assert.deepEqual(
          siteIds.map((siteId) => deployments(stack, siteId)),
          [1, 1],
        );
      }
      const [first, ...others] = result.targets;
      let most = 0;
      for (const { startedAt } of others) {
        assert.ok((startedAt ?? '') >= (first?.endedAt ?? ''), 'a server started before the canary ended');
        const during = result.targets.filter((it) => it.startedAt! <= startedAt! && it.endedAt! > startedAt!);
        most = Math.max(most, during.length);
      }
      assert.equal(most, 2, 'servers at once');
    }),
  );

  test(
    'starts no more servers when more than maxFailures servers are not completed',
    inFleet(async (stack) => {
      const targets = servers(5);
      for (const { siteIds } of targets.slice(0, 2)) fails(stack, siteIds[0]);
      const result = await endOfRollout(stack, begin(stack, targets, { maxAtOnce: 1, maxFailures: 1 }));
      assert.deepEqual(outcomesOf(result), ['failed', 'failed', 'not_started', 'not_started', 'not_started']);
      assert.deepEqual([result.outcome, result.error?.type], ['failed', 'DeploymentFailed']);
      assert.match(
        result.error?.message ?? '',
        /^stopped: too many servers are not completed: 2 \(at most 1 allowed\); server/,
      );
      assert.deepEqual(
        targets.map(({ serverId }) => backups(stack, serverId)),
        [1, 1, 0, 0, 0],
      );
      assert.deepEqual([result.servers.failed, result.servers.not_started], [2, 3]);
    }),
  );

  test(
    'continues while at most maxFailures servers are not completed, and reports them at the end',
    inFleet(async (stack) => {
      const targets = servers(3);
      fails(stack, targets[0].siteIds[0]);
      const result = await endOfRollout(stack, begin(stack, targets, { maxAtOnce: 1, maxFailures: 1 }));
      assert.deepEqual(outcomesOf(result), ['failed', 'completed', 'completed']);
      assert.deepEqual([result.outcome, result.decisions], ['failed', []]);
    }),
  );

  test(
    'counts the failure of the last server',
    inFleet(async (stack) => {
      const targets = servers(2);
      fails(stack, targets[1]?.siteIds[0]);
      const result = await endOfRollout(stack, begin(stack, targets));
      assert.deepEqual([result.outcome, result.decisions[0]?.action], ['failed', 'stop']);
    }),
  );

  test(
    'shares the locks of manual runs and waits for one of them',
    inFleet(async (stack) => {
      const { sandbox, start, until, world, query } = stack;
      const [target] = servers(1);
      const siteId = target.siteIds[0]!;
      sandbox.script({ site: siteId }, { ends: 'never' }, {});
      const byHand = start({ siteIds: [siteId] });
      await until('the deployment', () => deployments(stack, siteId) === 1);
      const rollout = begin(stack, [target]);
      const run = await until('its run', () => world.server.runs.find(({ parent }) => parent?.runId === rollout.runId));
      await until('its wait', () => searchAttribute(run, 'BelayPhase') === 'queued');
      assert.equal((await progressOf(stack, rollout)).result.targets[0]?.workflowId, run.workflowId);
      const { waiting } = await query<RunProgress>(run.workflowId, QUERIES.progress);
      assert.ok(waiting?.kind === 'lock' && waiting.lockId === deploySiteId(siteId), JSON.stringify(waiting));
      assert.equal(waiting.lockedBy, byHand.workflowId);
      sandbox.finish({ site: siteId }, 'completed');
      assert.equal((await stack.result(byHand)).outcome, 'completed');
      assert.equal((await endOfRollout(stack, rollout)).outcome, 'completed');
      assert.equal(deployments(stack, siteId), 2);
    }),
  );

  test(
    'says that no worker took up the rollout in time',
    inFleet(async (stack) => {
      stack.world.restartWorkers(11 * 60_000);
      const { outcome, error } = await endOfRollout(stack, begin(stack, servers(1)));
      const message = 'no worker took up this rollout within 10m, so it was not started';
      assert.deepEqual([outcome, error], ['not_started', { type: 'NoWorker', message }]);
    }),
  );
});

describe('the beat of runs', () => {
  const jitterOf = ({ world }: VirtualStack, siteId: string): number | undefined => {
    const [first] = world.server.find(deploySiteId(siteId))?.history ?? [];
    assert.ok(first?.kind === 'started');
    return payloads.fromPayload<DeploySiteInput>(first.input[0]!).jitter;
  };

  test(
    'the runs of a rollout delay their tries, each by its own part of the interval',
    inFleet(async (stack) => {
      const targets = servers(3);
      const result = await endOfRollout(stack, begin(stack, targets, { maxAtOnce: 3 }));
      assert.equal(result.outcome, 'completed', result.error?.message);
      const jitters = targets.map(({ siteIds }) => jitterOf(stack, siteIds[0]!));
      assert.ok(
        jitters.every((it) => it !== undefined && it > 0 && it <= 0.2),
        jitters.join(),
      );
      assert.equal(new Set(jitters).size, targets.length);
    }),
  );

  test(
    'a single run keeps its beat',
    inFleet(async (stack) => {
      const siteId = fresh('a');
      await stack.result(stack.start({ siteIds: [siteId] }));
      assert.equal(jitterOf(stack, siteId), 0);
    }),
  );
});

const TARGET = { serverId: 's1', siteIds: ['a1'] };
const WRONG: [string, unknown, RegExp][] = [
  ['nothing', null, /not an object/],
  ['a name with a dot', { name: 'a.b' }, /^name: must be/],
  ['an empty key', { key: '' }, /^key: is empty/],
  ['too many at once', { maxAtOnce: 201 }, /^maxAtOnce: must be a whole number from 1 to 200/],
  ['a fractional limit of failures', { maxFailures: 0.5 }, /^maxFailures: /],
  ['an unknown reaction', { onFailures: 'ask' }, /^onFailures: /],
  ['options with a server id', { options: { serverId: 's9' } }, /^options.serverId: is not a field of a rollout's op/],
  [
    'the id of a backup for each server',
    { options: { backup: { backupId: 'b1' } } },
    /^options\.backup\.backupId: a rollout backs up each server, leave it out$/,
  ],
  ['runs that replace others', { options: { supersede: true } }, /^options\.supersede: a rollout replaces no run, /],
  ['options with a misspelt group', { options: { backups: {} } }, /^options\.backups: .*\(did you mean backup\?\)/],
  ['a misspelt option', { options: { backup: { Tries: 3 } } }, /^options\.backup\.Tries: .*did you mean tries\?/],
  ['malformed options', { options: 5 }, /^options: /],
  ['a malformed group of options', { options: { deploy: 5 } }, /^options\.deploy: is not an object$/],
  ['malformed results', { previousResults: [null] }, /^previousResults: /],
  ['no waves', { waves: [] }, /^waves: /],
  ['malformed waves', { waves: [null] }, /^waves\[0\]: is not an object/],
  ['malformed targets', { waves: [{ name: 'w', targets: [null] }] }, /^waves\[0\].targets\[0\]: /],
  [
    'a malformed list of completed targets',
    { waves: [{ name: 'w', targets: [{ ...TARGET, completedTargets: 5 }] }] },
    /completedTargets: /,
  ],
  ['a server twice', { waves: [{ name: 'w', targets: [TARGET, TARGET] }] }, /names server s1 twice/],
  ['waves with equal names', { waves: [1, 2].map(() => ({ name: 'w', targets: [] })) }, /another wave has the name w/],
  ['a misspelt approval', { approvals: 'boss' }, /^approvals: is not a field of .*\(did you mean approval\?\)/],
  ['a misspelt deadline', { deployUntil: { time: '06:00', timeZone: 'UTC' } }, /^deployUntil: .*deploysUntil\?/],
  ['a misspelt reaction to gates', { onGate: { failed: 'stop' } }, /^onGate: .*\(did you mean onGates\?\)/],
  ['a reaction to an unknown end of a gate', { onGates: { fails: 'stop' } }, /^onGates\.fails: .*mean failed\?\)/],
  [
    'a misspelt approval of a wave',
    { waves: [{ name: 'w', approvals: 'boss', targets: [TARGET] }] },
    /^waves\[0\]\.approvals: is not a field of a wave \(did you mean approval\?\); see docs\/reference\/library\.md/,
  ],
  [
    'misspelt gates',
    { waves: [{ name: 'w', after: { gate: ['slo'] }, targets: [TARGET] }] },
    /^waves\[0\]\.after\.gate: .*\(did you mean gates\?\)/,
  ],
  [
    'sites as belay.yaml names them',
    { waves: [{ name: 'w', targets: [{ serverId: 's1', sites: ['a1'] }] }] },
    /^waves\[0\]\.targets\[0\]\.sites: is not a field of a wave's server \(did you mean siteIds\?\)/,
  ],
  ['too many sites', { waves: [{ name: 'w', targets: servers(MAX_TARGETS + 1) }] }, /1001 targets, at most 1000/],
];

for (const [what, change, message] of WRONG) {
  test(
    `the workflow and the client reject a rollout with ${what}`,
    inVirtualTime(async ({ world: { server }, until }) => {
      const input = change === null ? null : { ...rolloutOf([TARGET]), ...(change as object) };
      assert.match(validateRolloutInput(input) ?? 'taken', message);
      const start = { workflowId: fresh('wrong'), type: ROLLOUT_TYPE, input: [payloads.toPayload(input)], memo: {} };
      const run = server.startOnce({ ...start, taskTimeoutMs: 10_000 })!;
      await until('its end', () => run.closedMs !== null);
      const { outcome } = run;
      assert.ok(outcome !== null && outcome !== 'terminated' && 'failure' in outcome, 'it was not rejected');
      assert.equal(outcome.failure.applicationFailureInfo?.type, 'Usage');
    }),
  );
}
