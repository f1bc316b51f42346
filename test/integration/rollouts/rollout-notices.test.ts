import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { before, test } from 'node:test';
import type { RolloutResult } from '../../../src/features/rollouts/shapes.ts';
import { rolloutPauseId, runEndId } from '../../../src/contract/ids.ts';
import { textOf } from '../../../src/features/notifications/worker-channels.ts';
import { emptyRollout } from '../../../src/contract/results.ts';
import { eventually } from '../../support/eventually.ts';
import { literalService, type LiteralService } from '../../support/literal.ts';
import { secretFile } from '../../support/receiver.ts';
import { endOf, rolloutOf, servers } from '../../support/rollouts.ts';
import { startTestStack, type TestStack } from '../../support/world.ts';
import type { Notification } from '../../../src/features/notifications/shapes.ts';
import type { Rollout } from '../../../src/features/rollouts/client-handle.ts';

type Message = { text: string } & Notification;

let world: TestStack;
let chat: LiteralService;
const taken: Message[] = [];

before(async () => {
  chat = await literalService((request, response) => {
    void text(request).then((body) => {
      if (body !== '') taken.push(JSON.parse(body) as Message);
      response.end('ok');
    });
  });
  const at = (name: string) => secretFile(`${chat.url}/${name}`);
  const notify = { targets: { ops: await at('ops') }, heartbeats: { nightly: await at('nightly') } };
  const failed = { durationMs: 0, ends: 'failed' };
  world = await startTestStack({
    configuration: { notify },
    defaults: { deployment: failed, backup: { durationMs: 0 } },
  });
});

const endId = ({ workflowId, runId }: Rollout) => runEndId(workflowId, runId ?? '');
const messagesAbout = (id: string) => taken.filter((it) => it.id === id);

test('a rollout sends one notification when it ends and none for its runs', async () => {
  const targets = servers(2);
  const rollout = await world.belay.rollouts.start(rolloutOf(targets, { maxFailures: 2 }));
  await endOf(rollout);
  const id = endId(rollout);
  await world.client.workflow.getHandle(id).result();
  const [message, ...more] = messagesAbout(id);
  assert.equal(message?.kind, 'rollout');
  assert.match(
    message.text,
    /^failed: rollout:steady:k\d+: servers: 2 failed\nserver s\d+: .*\nserver s\d+: failed\nserver s\d+: failed\nretry: npx belay-deploy rollout retry rollout:steady:k\d+$/,
  );
  assert.deepEqual(more, []);
  assert.ok(!taken.some((it) => it.kind === 'run'), 'a run of the rollout sent a notification');
});

test('a rollout that pauses sends a notification with the reason at once', async () => {
  const rollout = await world.belay.rollouts.start(rolloutOf(servers(2), { maxAtOnce: 1, onFailures: 'pause' }));
  const id = rolloutPauseId(rollout.workflowId, rollout.runId ?? '', 1);
  const message = await eventually('the message', () => messagesAbout(id)[0]);
  assert.match(
    message.text,
    /^paused: rollout:steady:k\d+: servers: 1 failed, 1 pending\nmaxFailures: too many servers are not completed: 1/,
  );
  await rollout.abort({ by: 'anne', reason: 'enough' });
  await endOf(rollout);
});

test('a decision during a rollout is not reported as the reason for its end', async () => {
  const resumed = { phase: 'done', decisions: [{ at: '', action: 'resume', by: 'anne', reason: 'cpu ok' }] };
  const result = { ...emptyRollout({ workflowId: 'rollout:a:b' }), ...resumed, outcome: 'completed' } as RolloutResult;
  assert.doesNotMatch(textOf({ kind: 'rollout', id: 'x', result, leftOut: 0 }), /cpu ok/);
  const open = { ...result, phase: 'paused', outcome: null } as RolloutResult;
  assert.match(textOf({ kind: 'rollout', id: 'x', result: open, leftOut: 0 }), /\nanne: cpu ok\nresume: /);
});

test('a completed rollout calls its heartbeat and sends no notification', async () => {
  const targets = servers(1, 0);
  const rollout = await world.belay.rollouts.start(rolloutOf(targets, { heartbeat: 'nightly' }));
  assert.equal((await endOf(rollout)).outcome, 'completed');
  const id = endId(rollout);
  await world.client.workflow.getHandle(id).result();
  assert.deepEqual([messagesAbout(id), chat.requests.filter((it) => it === 'POST /nightly').length], [[], 1]);
});

test('a rollout with an unknown heartbeat is rejected before it starts anything', async () => {
  const rollout = await world.belay.rollouts.start(rolloutOf(servers(1), { heartbeat: 'nightli' }));
  const { outcome, error, servers: sum } = await endOf(rollout);
  assert.deepEqual([outcome, error?.type, sum.not_started], ['not_started', 'Usage', 1]);
  assert.match(error?.message ?? '', /the worker has no heartbeat "nightli": add it to notify.heartbeats/);
});
