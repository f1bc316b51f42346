/** Each check finds nothing in a play, and finds what is changed in it afterwards. S1, S3 and S8 are in sim/seeds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultPayloadConverter as payloads, type Payload } from '@temporalio/common';
import { deploySiteId } from '../../../src/contract/ids.ts';
import { SIGNALS } from '../../../src/contract/names.ts';
import type { LockReleased } from '../../../src/contract/operation.ts';
import type { RolloutResult } from '../../../src/features/rollouts/shapes.ts';
import type { DeploymentResult } from '../../../src/contract/run.ts';
import type { Fault } from '../../../src/sandbox/faults.ts';
import type { ScriptPart } from '../../../src/sandbox/script.ts';
import { COMPLETED, FAILED, siteAfter } from '../../support/sites.ts';
import { servers } from '../../support/rollouts.ts';
import { overtaken } from '../checks/lock-order.ts';
import { impatient } from '../checks/lock-waits.ts';
import { overlong, overBudget } from '../checks/read-budgets.ts';
import { unreasonable } from '../checks/reasons.ts';
import { unruly } from '../checks/rollouts.ts';
import { unfounded } from '../checks/reads-and-results.ts';
import { endOfRollout, startRollout } from '../plays/start-rollout.ts';
import { asPlayed, change } from './changed.ts';
import { createClock } from '../clock.ts';
import { eventsOf } from '../stack/inspect.ts';
import { inVirtualTime, type VirtualStack } from '../stack/stack.ts';
import { recordedTape } from '../tape.ts';
import type { Run } from '../temporal/types.ts';
import { createPace } from '../worker/pace.ts';
import { createProcess } from '../worker/process.ts';

const TRIES = 4;
const NEVER: ScriptPart = { ends: 'never' };
const SLOW: ScriptPart = { durationMs: 8_000, ends: 'completed' };

/** A deployment that is in progress for longer than all tries, and hints about it. */
async function deploy(
  { world, sandbox, start, result, until, signal }: VirtualStack,
  script: ScriptPart = SLOW,
): Promise<Run> {
  const siteId = siteAfter(sandbox, FAILED, script);
  const run = start({ siteIds: [siteId], deploy: { intervalMs: 5_000, tries: TRIES } });
  const operation = await until('the operation', () => world.server.find(deploySiteId(siteId)));
  for (let atMs = 100; atMs < 15_000; atMs += 100)
    world.clock.after(atMs, () => {
      if (operation.closedMs === null) signal(operation.workflowId, SIGNALS.hint);
    });
  await result(run);
  return operation;
}

const summaries = ({ history }: Run): Payload[] =>
  history.flatMap((event) => (event.kind === 'activityScheduled' && event.summary !== null ? [event.summary] : []));

test('S4: a try that is made twice, and a read after the last try, are findings', () =>
  inVirtualTime(async (stack) => {
    const operation = await deploy(stack, NEVER);
    assert.deepEqual(overBudget(stack.world), []);
    const [second] = summaries(operation).filter((it) => change(it, /read 2 of 4/, 'read 1 of 4'));
    assert.match(overBudget(stack.world).join('\n'), /^S4: deploy-site:\S+ made try 1 as answer 2$/m);
    change(second!, /read 1 of 4/, 'read 4 of 4');
    assert.match(
      overBudget(stack.world).join('\n'),
      /^S4: deploy-site:\S+ read the status \d+ times after its last try$/m,
    );
    change(second!, /read 4 of 4/, 'read 2 of 9');
    assert.match(overBudget(stack.world).join('\n'), /^S4: deploy-site:\S+ has 9 tries, not 4$/m);
  })());

test('S4: more hinted reads than allowed, or two of them within a second, are findings', () =>
  inVirtualTime(async (stack) => {
    const operation = await deploy(stack, NEVER);
    const hinted = summaries(operation).filter((it) => change(it, /hinted read/, 'hinted read'));
    assert.ok(hinted.length > 5, `${hinted.length} hinted reads`);
    assert.deepEqual(overBudget(stack.world), []);
    for (const summary of summaries(operation)) change(summary, /(early )?read( . of 4)?/, 'hinted read');
    const found = overBudget(stack.world).join('\n');
    assert.match(found, /^S4: deploy-site:\S+ made hinted reads within a second$/m);
    assert.match(found, /^S4: deploy-site:\S+ made \d+ hinted reads$/m);
  })());

test('S5: a lock that does not go to the run that has waited longest is a finding', () =>
  inVirtualTime(async (stack) => {
    const { world, sandbox, start, result, forward } = stack;
    const siteId = siteAfter(sandbox, FAILED, SLOW, SLOW, SLOW);
    const runs: Run[] = [];
    for (let count = 0; count < 3; count += 1) {
      runs.push(start({ siteIds: [siteId] }));
      await forward(1_000);
    }
    for (const run of runs) await result(run);
    assert.deepEqual(overtaken(world), []);
    const release = world.server.runs
      .flatMap(({ history }) => history)
      .find((it) => it.kind === 'signalInitiated' && it.signal === SIGNALS.lockReleased);
    assert.ok(release?.kind === 'signalInitiated');
    const message = payloads.fromPayload<LockReleased>(release.input[0]!);
    const [last] = message.waiters;
    assert.equal(last?.runId, runs[2]!.runId);
    Object.assign(release.target, { workflowId: last.workflowId, runId: last.runId });
    const [, second] = runs;
    assert.deepEqual(overtaken(world), [
      `S5: ${deploySiteId(siteId)} passed ${deploySiteId(siteId)} to ${last.workflowId} before ${second!.workflowId}`,
    ]);
  })());

test('S13: a run that waits for a lock for longer than its busy timeout is a finding', () =>
  inVirtualTime(async (stack) => {
    const { world, sandbox, start, result, forward } = stack;
    const siteId = siteAfter(sandbox, FAILED, { durationMs: 600_000, ends: 'completed' });
    start({ siteIds: [siteId], deploy: { tries: 60 } });
    await forward(5_000);
    const input = { siteIds: [siteId], busyTimeoutMs: 180_000 };
    const run = start(input);
    await result(run);
    const played = { runs: [asPlayed(run, input)] };
    assert.deepEqual(impatient({ world, played }), []);
    eventsOf(run, 'timerStarted').at(-1)!.ms += 300_000;
    assert.match(impatient({ world, played }).join('\n'), /^S13: .* waits 4\d{5} ms for deploy-site:\S+, and its/);
  })());

test('S6: a history with more events, and more signals than its reads explain, is a finding', () =>
  inVirtualTime(async (stack) => {
    const operation = await deploy(stack);
    assert.deepEqual(overlong(stack.world), []);
    const { history } = operation;
    operation.history = [...history, ...Array.from({ length: 1_000 }, () => history.at(-1)!)];
    assert.match(
      overlong(stack.world).join('\n'),
      /^S6: deploy-site:\S+ has \d+ events for \d+ reads, 1 requests and \d+ signals$/m,
    );
    operation.history = Array.from({ length: 60_000 }, () => history[1]!);
    operation.signals = 10_001;
    const found = overlong(stack.world).join('\n');
    assert.match(found, /^S6: deploy-site:\S+ has 60000 events$/m);
    assert.match(found, /^S6: deploy-site:\S+ was sent 10001 signals$/m);
  })());

test('S7: a result that its reads do not show is a finding', () =>
  inVirtualTime(async (stack) => {
    const operation = await deploy(stack);
    assert.deepEqual(unfounded(stack.world), []);
    const reported = operation.outcome;
    assert.ok(reported !== null && reported !== 'terminated' && 'result' in reported);
    const result = payloads.fromPayload<DeploymentResult>(reported.result!);
    assert.deepEqual([result.outcome, result.evidence], ['completed', 'transition']);
    const found = (more: Partial<DeploymentResult>) => {
      operation.outcome = { result: payloads.toPayload({ ...result, ...more }) };
      return unfounded(stack.world).join('\n');
    };
    assert.match(found({ outcome: 'failed' }), /^S7: deploy-site:\S+ failed, and the last read is "completed"$/m);
    assert.match(found({ polls: 99 }), /^S7: deploy-site:\S+ reports 99 polls, and \d+ reads were answered$/m);
    assert.match(found({ lastStatus: 'failed' }), /reports "failed", and the last read is "completed"$/m);
    assert.match(found({ acceptedAt: null }), /completed, and its request was not accepted$/m);
    assert.match(found({ endedAt: result.startedAt }), /has times out of order$/m);
    assert.match(found({ inProgressAt: null }), /was in progress: true, reports null$/m);
    for (const evidence of ['identity', 'settled', null] as const)
      assert.match(found({ evidence }), new RegExp(`reports evidence "${evidence}", which its reads do not show`));
    assert.match(found({ polls: 99 }), /^S7: deploy:\S+ reports deploy-site:\S+ otherwise$/m);
  })());

test('S7: a verdict by a change that a later read took back is a finding, and one by a transition is none', () =>
  inVirtualTime(async ({ world, sandbox, start, result }) => {
    const siteId = siteAfter(sandbox, COMPLETED, COMPLETED);
    const shown = (status: string): Fault => ({
      ...{ route: 'latest', target: siteId, skip: 2 },
      answer: { kind: 'body', code: 200, type: 'application/json', text: JSON.stringify({ status }) },
    });
    sandbox.fault({ route: 'deploy', target: siteId, delayMs: 7_000, answer: { kind: 'true' } });
    sandbox.fault(...['building', 'failed', 'completed'].map(shown));
    const { deployments } = await result(start({ siteIds: [siteId], deploy: { intervalMs: 2_500, tries: 20 } }));
    assert.equal(deployments[0]?.evidence, 'transition');
    assert.deepEqual(unfounded(world), []);
    const operation = world.server.find(deploySiteId(siteId))!;
    operation.outcome = { result: payloads.toPayload({ ...deployments[0], evidence: 'changed' }) };
    assert.match(unfounded(world).join('\n'), /^S7: deploy-site:\S+ failed, and the last read is "completed"$/m);
  })());

test('S7: an unknown outcome of a status that had settled is a finding', () =>
  inVirtualTime(async ({ world, sandbox, start, result }) => {
    const siteId = siteAfter(sandbox, COMPLETED, COMPLETED);
    const { deployments } = await result(start({ siteIds: [siteId], deploy: { intervalMs: 5_000, tries: 20 } }));
    assert.equal(deployments[0]?.evidence, 'settled');
    const operation = world.server.find(deploySiteId(siteId))!;
    operation.outcome = { result: payloads.toPayload({ ...deployments[0], outcome: 'unknown', evidence: null }) };
    assert.match(unfounded(world).join('\n'), /^S7: deploy-site:\S+ ends unknown, and its status had settled$/m);
  })());

test('S11: a wrong count of requests, and a reason that the history does not show, are findings', () =>
  inVirtualTime(async ({ world, sandbox, start, result }) => {
    const siteId = siteAfter(sandbox, FAILED);
    const input = { siteIds: [siteId], outageBudgetMs: 60_000, deploy: { intervalMs: 5_000, tries: 10 } };
    const run = start(input);
    const reported = await result(run);
    const operation = world.server.find(deploySiteId(siteId))!;
    const deployment = reported.deployments[0]!;
    const endAs = (type: string, trigger = deployment.trigger, message = '') => {
      const details = { payloads: [payloads.toPayload({ ...deployment, trigger })] };
      operation.outcome = { failure: { message, applicationFailureInfo: { type, details } } };
      return unreasonable({ world, played: { runs: [] } }).join('\n');
    };
    assert.deepEqual(unreasonable({ world, played: { runs: [] } }), []);
    assert.match(
      endAs('Cancelled', { ...deployment.trigger, attempts: 2 }),
      /^S11: \S+ reports 2 attempts, and made 1$/,
    );
    assert.match(endAs('TooLate'), /^S11: \S+ ended TooLate before its deadline$/);
    assert.match(endAs('Busy'), /^S11: \S+ ended Busy, and nothing else was in progress$/);
    const post = eventsOf(operation, 'activityClosed').find(({ type }) => type === 'triggerDeployment')!;
    post.outcome = { failure: { applicationFailureInfo: { type: 'NotSent' } } };
    assert.match(endAs('Refused'), /^S11: \S+ sends nothing more, although it had the time$/);
    const counted = endAs('OutcomeUnknown', deployment.trigger, 'the deployment: 10 reads in a row failed');
    assert.match(counted, /^S11: \S+ counts reads as failed that had not failed$/);
    operation.outcome = { result: payloads.toPayload(deployment) };
    const late = { ...reported, deployments: [{ ...deployment, error: { type: 'TooLate' as const, message: '' } }] };
    const found = unreasonable({ world, played: { runs: [{ ...asPlayed(run, input), result: late }] } });
    assert.match(found.join('\n'), /^S11: deploy:\S+ ended TooLate before any of its limits$/);
  })());

test('S10: a request during a pause, and more requests than the share of the worker, are findings', async () => {
  const found: string[] = [];
  const clock = createClock(0, { settled: () => Promise.resolve(), onStandStill: () => {} });
  const process = createProcess(clock, 0);
  const pace = createPace({ clock, process, tape: recordedTape([]), onFinding: (it) => void found.push(it) });
  const request = (status: number, headers: object) => {
    const send = pace.checked(() => Promise.resolve({ status, headers: { ...headers }, body: '' }));
    return send({ baseUrl: '', token: () => Promise.resolve('') }, { method: 'GET', path: '/', timeoutMs: 1 }, '');
  };
  clock.after(0, () => request(429, { 'retry-after': '60' }));
  clock.after(59_000, () => request(200, {}));
  clock.after(60_000, () => request(200, {}));
  clock.after(70_000, () => pace.pacer.setShare(2));
  for (const ms of [80_000, 80_500, 81_000, 81_500]) clock.after(ms, () => request(200, {}));
  await clock.run(85_000, () => false);
  assert.deepEqual(found, ['S10: a request left 1000 ms before the end of a pause']);
  for (const ms of [82_000, 82_001, 82_002]) clock.after(ms - 81_500, () => request(200, {}));
  await clock.run(90_000, () => false);
  assert.deepEqual(found.slice(1), ['S10: 7 requests left, and 6 were allowed']);
});

test('S12: a server that is started too soon, or left out, and a result that the runs do not show, are findings', () =>
  inVirtualTime(async (stack) => {
    const { world, sandbox } = stack;
    const [first, ...rest] = servers(3);
    sandbox.script({ site: first.siteIds[0]! }, { durationMs: 30_000, ends: 'failed' });
    const rollout = startRollout(world.server, {
      ...{ name: 'steady', fleet: 'shop', key: 'k1', maxAtOnce: 1, maxFailures: 1, onFailures: 'stop' },
      waves: [
        { name: 'canary', targets: [first] },
        { name: 'rest', targets: rest },
      ],
    });
    const result = await endOfRollout(stack, rollout);
    assert.deepEqual(unruly(world), []);
    const found = (more: Partial<RolloutResult>) => {
      const details = { payloads: [payloads.toPayload({ ...result, ...more })] };
      rollout.outcome = { failure: { applicationFailureInfo: { type: 'DeploymentFailed', details } } };
      return unruly(world).join('\n');
    };
    const [canary, second, third] = result.targets;
    const halt = { action: 'stop' as const, by: 'maxFailures', reason: '', at: canary!.endedAt! };
    assert.match(found({ outcome: 'completed' }), /^S12: ended completed, and completed all servers: false$/m);
    assert.match(found({ targets: [canary!, { ...second!, startedAt: null }] }), /^S12: \S+ was left out$/m);
    assert.match(
      found({ targets: [canary!, { ...second!, outcome: 'failed' }] }),
      /is not reported as its run ended$/m,
    );
    assert.match(found({ decisions: [halt] }), /^S12: halted at \S+ after too few failures$/m);
    const failed = { ...second!, outcome: 'failed' as const };
    const resume = { action: 'resume' as const, by: 'operator', reason: '', at: second!.endedAt! };
    const twoFailed = { targets: [{ ...canary!, outcome: 'failed' as const }, failed] };
    const later = { ...halt, at: third!.endedAt! };
    const tooSoon = /^S12: halted at \S+ after too few failures$/m;
    assert.match(found({ ...twoFailed, decisions: [resume, later] }), tooSoon);
    assert.doesNotMatch(found({ ...twoFailed, decisions: [{ ...resume, action: 'release' }, resume, later] }), tooSoon);
    assert.match(found({ targets: [canary!, failed, third!] }), /^S12: \S+ was started after too many failures$/m);
    const runs = world.server.runs.filter(({ parent }) => parent?.runId === rollout.runId);
    for (const run of runs) run.startedMs = runs[0]!.startedMs;
    const early = found({});
    assert.match(early, /^S12: backup-then-deploy:\S+ was started as number 3 at once$/m);
    assert.match(early, /^S12: backup-then-deploy:\S+ was started before its wave$/m);
  })());

test('code that asks for more and more without waiting ends the play', async () => {
  let standsStill = false;
  const clock = createClock(0, { settled: () => Promise.resolve(), onStandStill: () => (standsStill = true) });
  const again = () => void clock.after(0, again);
  clock.after(1_000, again);
  await clock.run(2_000, () => false);
  assert.deepEqual([standsStill, clock.nowMs], [true, 1_000]);
});
