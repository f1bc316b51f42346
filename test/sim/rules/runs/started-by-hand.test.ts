/** A person can start every workflow in the Temporal UI, with any input. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { defaultPayloadConverter as payloads } from '@temporalio/common';
import { ROLLOUT_TYPE, RUN_TYPES } from '../../../../src/contract/names.ts';
import { freezeId, lockIdOf } from '../../../../src/contract/ids.ts';
import { isRecord } from '../../../../src/contract/plain-object.ts';
import { siteTarget } from '../../../../src/contract/target.ts';
import { validateRolloutInput } from '../../../../src/request/input/rollout-input.ts';
import { validateRunInput } from '../../../../src/request/input/run-input.ts';
import { fresh } from '../../../support/fresh.ts';
import { rolloutOf } from '../../../support/rollouts.ts';
import { inVirtualTime } from '../../stack/stack.ts';
import type { Run } from '../../temporal/types.ts';
import { SERVICE_URL, START_MS } from '../../world.ts';

const DAY_MS = 24 * 3_600_000;
const NOW = new Date(START_MS).toISOString();
const SERVER = 's1';
const SITE = siteTarget('a1');

const APPROVED = {
  plan: {
    ...{ service: SERVICE_URL, askedAt: NOW, parts: { root: 'r' } },
    rules: [{ name: 'lead', need: 1, goodForMs: DAY_MS }],
  },
  yeses: [{ by: 'anne', at: NOW, proof: { kind: 'none' }, rules: ['lead'] }],
  part: { serverId: SERVER, targets: [SITE], path: [{ side: 'left', hash: 'h' }] },
};

/** What a worker hardly looks into. */
const LOOSE = {
  ...{ service: SERVICE_URL, epoch: '1', fleet: 'shop', approved: [APPROVED], meta: { by: 'anne' } },
  letOff: [{ kind: 'freeze', name: 'stock', since: NOW }],
};

const COMPLETED = {
  ...{ serverId: 's0', wave: 'canary', outcome: 'completed', workflowId: 'w0', backup: 'completed' },
  deployments: [{ target: siteTarget('a0'), siteId: 'a0', outcome: 'completed' }],
  ...{ error: null, heldByEvent: null, startedAt: NOW, endedAt: NOW },
};

const OF_ROLLOUT = {
  ...rolloutOf([{ serverId: SERVER, siteIds: [SITE.id] }]),
  ...{
    service: SERVICE_URL,
    epoch: '1',
    attempt: 2,
    meta: { by: 'anne' },
    passedWaves: ['canary'],
    previousResults: [COMPLETED],
  },
  options: { backup: { tries: 2 }, ifBusy: 'fail' },
};

const OF_OPERATION = {
  ...{ waiters: [], tries: 1, intervalMs: 1_000, service: SERVICE_URL, formerly: [], statuses: {}, epoch: '1' },
};

const OF_EVENT = {
  ...{ service: SERVICE_URL, source: 'panel', deliveryId: 'd1', verified: true, receivedAt: NOW, freshForMs: DAY_MS },
  event: { kind: 'alert.fired', rawKind: 'alert', serverId: SERVER, siteId: SITE.id, backupId: 'b1', at: NOW },
  ...{ reactions: ['hold', 'end-wait', 'share', 'notify'], body: {} },
};

const STATE = { state: 'running', text: 'deploys' };
const OF_REPORT = {
  ...{ workflowId: 'w1', firstRunId: 'r1', heartbeat: 'night', commit: '3f2c1ab' },
  places: [{ report: 'commit', target: SITE }],
  state: { atMs: START_MS, seq: 1, isEnd: true, run: STATE, parts: { [lockIdOf(SITE)]: STATE } },
};

const OF_FIRING = {
  ...{
    fleet: 'shop',
    schedule: 'nightly',
    when: 'daily',
    timeZone: 'UTC',
    catchUpMs: DAY_MS,
    jitterMs: 1,
    queues: true,
  },
  ...{ pauseOnFailure: true, slot: { granularity: 'day', times: ['02:30'] } },
  start: {
    type: 'backupThenDeploy',
    input: { serverId: SERVER, siteIds: [SITE.id], service: SERVICE_URL, meta: { by: 'anne' } },
  },
};

const FREEZE = {
  ...{ scope: { kind: 'site', id: 'a9' }, since: NOW, until: new Date(START_MS + 60_000).toISOString() },
  ...{ reason: 'inventory', by: 'anne', blocks: ['deploy'], override: 'reason' },
};

/** A correct input of each type, and the id that it has to have. */
const CORRECT: Record<string, { input: object; workflowId?: string }> = {
  backupThenDeploy: { input: { serverId: SERVER, siteIds: [SITE.id], ...LOOSE } },
  backupOnly: { input: { serverId: SERVER } },
  deployOnly: { input: { targets: [SITE] } },
  watchDeployment: { input: { targets: [SITE] } },
  backupServer: { input: { serverId: SERVER, ...OF_OPERATION } },
  deploySite: { input: { target: SITE, ...OF_OPERATION } },
  recordBackup: { input: { service: SERVICE_URL, backupId: 'b1', serverId: SERVER, startedAt: NOW } },
  [ROLLOUT_TYPE]: { input: OF_ROLLOUT },
  runScheduled: { input: OF_FIRING },
  handleEvent: { input: OF_EVENT },
  report: { input: OF_REPORT },
  sendNotifications: {
    input: { notification: { kind: 'event', id: 'n1', ...OF_EVENT }, channels: ['ops'], heartbeat: 'night' },
  },
  freeze: { input: FREEZE, workflowId: freezeId({ kind: 'site', id: 'a9' }) },
};

/** What a person may write in the place of anything. Among the last ones is text that no id can have, and a name that zod skips. */
const WRONG: readonly unknown[] = [
  ...[null, undefined, 5, 'x', {}, [], [null], { toString: null }, '\ud800'],
  JSON.parse('{"__proto__":5}') as unknown,
];

const FEW = 10;
const REFUSALS: Partial<Record<string, (input: unknown) => string | null>> = {
  ...Object.fromEntries(RUN_TYPES.map((type) => [type, (input: unknown) => validateRunInput(type, input)])),
  [ROLLOUT_TYPE]: validateRolloutInput,
};

/** The same value with one part of it replaced, for each of its parts and each replacement. */
function* changed(value: unknown, place = 'input'): Generator<{ what: string; input: unknown }> {
  for (const wrong of WRONG) yield { what: `${place}: ${JSON.stringify(wrong)}`, input: wrong };
  const entries = Array.isArray(value) ? [...value.entries()] : isRecord(value) ? Object.entries(value) : [];
  // An activity reads these, and refuses them itself.
  for (const [name, part] of entries.filter(([it]) => !['notification', 'timeZone'].includes(String(it))))
    for (const { what, input } of changed(part, `${place}.${name}`))
      yield { what, input: replaced(value, name, input) };
}

function replaced(value: unknown, name: string | number, part: unknown): unknown {
  if (Array.isArray(value)) return value.map((it: unknown, index) => (index === name ? part : it));
  return { ...(value as object), [name]: part };
}

function registeredTypes(): string[] {
  const source = readFileSync(new URL('../../../../src/workflows/index.ts', import.meta.url), 'utf8');
  const [, exported = ''] = /export \{([^}]*)\}/.exec(source) ?? [];
  return exported.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]));
}

const failureTypeOf = ({ outcome }: Run): string | null | undefined =>
  typeof outcome === 'object' && outcome !== null && 'failure' in outcome
    ? outcome.failure.applicationFailureInfo?.type
    : null;

test('there is a correct input of every workflow', () => {
  assert.deepEqual(Object.keys(CORRECT).sort(), registeredTypes().sort());
});

for (const [type, { input: correct, workflowId }] of Object.entries(CORRECT)) {
  test(
    `${type} ends without a defect, whatever input a person starts it with`,
    inVirtualTime(async (stack) => {
      const refusal = REFUSALS[type];
      // A worker refuses these before anything looks into them, so a few show that.
      const isRefused = (input: unknown) => refusal !== undefined && refusal(input) !== null;
      const all = [{ what: 'nothing', input: undefined }, ...changed(correct)];
      const refused = all.filter(({ input }) => isRefused(input)).slice(0, FEW);
      const inputs = [...refused, ...all.filter(({ input }) => !isRefused(input))];
      const started: { what: string; run: Run }[] = [];
      for (const { what, input } of inputs) {
        const args = what === 'nothing' ? [] : [payloads.toPayload(input)];
        const start = {
          workflowId: workflowId ?? fresh('by-hand'),
          type,
          input: args,
          memo: {},
          taskTimeoutMs: 10_000,
        };
        const run = stack.world.server.start(start);
        started.push({ what, run });
        // Only one may run under this id.
        if (workflowId !== undefined) await stack.until(`the end with ${what}`, () => run.closedMs !== null);
      }
      await stack.forward(3 * DAY_MS);
      for (const { what, run } of started) {
        assert.notEqual(run.closedMs, null, `it still runs with ${what}`);
        assert.notEqual(failureTypeOf(run), 'Internal', what);
        assert.notEqual(failureTypeOf(run), undefined, what);
      }
    }),
  );
}

for (const type of ['deployOnly', ROLLOUT_TYPE]) {
  test(
    `${type} that a worker of another build accepts, and that this one cannot carry, ends as a defect`,
    inVirtualTime(async ({ world, startByHand, until }) => {
      const { activities } = world.server;
      const { input } = CORRECT[type]!;
      const start = activities.start.bind(activities);
      activities.start = (task) => {
        task.input = [payloads.toPayload({ request: { type, input } })];
        return start(task);
      };
      const run = startByHand(type, fresh('by-hand'), { ...input, meta: { by: 5 } });
      await until('its end', () => run.closedMs !== null);
      assert.equal(failureTypeOf(run), 'Internal');
    }),
  );
}
