/** The doors: every way in which something is started, continued or done again. Each plays against any rule. */
import assert from 'node:assert/strict';
import { defaultPayloadConverter as payloads, defineSearchAttributeKey } from '@temporalio/common';
import { EVENT_TYPE, ROLLOUT_TYPE } from '../../../../src/contract/names.ts';
import { eventId } from '../../../../src/contract/ids.ts';
import type { EventInput, EventKind } from '../../../../src/features/events/shapes.ts';
import type { RolloutInput, RolloutResult } from '../../../../src/features/rollouts/shapes.ts';
import type { RunInput } from '../../../../src/contract/run.ts';
import type { ScheduledInput } from '../../../../src/features/schedules/shapes.ts';
import { definedFields } from '../../../../src/contract/plain-object.ts';
import { TIMING } from '../../../../src/contract/timing.ts';
import { nextAttempt } from '../../../../src/features/rollouts/client.ts';
import type { ScriptPart } from '../../../../src/sandbox/script.ts';
import type { Configuration } from '../../../../src/config/load.ts';
import { rolloutOf } from '../../../support/rollouts.ts';
import { fresh } from '../../../support/fresh.ts';
import { attributePayloads } from '../../core/sdk.ts';
import { decide, startRollout, type DecisionName } from '../../plays/start-rollout.ts';
import { startRun } from '../../plays/start-run.ts';
import { startInput } from '../../stack/inspect.ts';
import { resetToBeginning, startAgain } from '../../stack/start-again.ts';
import type { VirtualStack } from '../../stack/stack.ts';
import type { Run } from '../../temporal/types.ts';
import { SERVICE_URL, START_MS } from '../../world.ts';
import { deployPosts } from '../runs/runs-that-wait.ts';
import { backsUp } from '../rollouts/rollouts-in-flight.ts';
import { CANARY_SERVER, CANARY_SITE, SECOND_SITE, SERVER, SITE, type Kind, type Rule } from './rules.ts';

/** What happens at a door. */
interface Held {
  /** Executions that the rule has to hold. */
  runs: Run[];
  /** The site that has to stay as it is, and how many requests were sent for it before the door was opened. */
  siteId: string;
  before: number;
  /** Error types by which the door itself ends, whatever the rule. */
  ownTypes: readonly string[];
}

export interface Door {
  /** What it starts, in the order of preference: a rule that only rollouts have takes a rollout. */
  kinds: readonly Kind[];
  play: (stack: VirtualStack, rule: Rule, kind: Kind) => Promise<Held>;
  configuration?: Configuration;
}

export const DOOR_NAMES = [
  ...(['reset of a run', 'reset of a rollout', 'retry', 'resume', '--again', 'supersede', 'override'] as const),
  ...(['keepGoing', 'attach', 'event', 'trigger', 'backfill', 'start in the UI', 'reset of an activity'] as const),
];
export type DoorName = (typeof DOOR_NAMES)[number];

const MINUTE = 60_000;
/** A backup that is completed long before any rule begins. */
const SOON: ScriptPart = { durationMs: 10_000 };
const BOTH: readonly Kind[] = ['run', 'rollout'];
const BY = { by: 'anne', reason: 'let me through' };

type Asked = Pick<RunInput, 'siteIds' | 'override' | 'keepGoing' | 'supersede'>;

const runInput = ({ options }: Rule, more: Asked = {}): RunInput => ({
  ...{ serverId: SERVER, siteIds: [SITE] },
  ...options,
  ...more,
});

/** No failure stops it, so what holds its second wave is the rule. */
function rolloutInput({ options, wave, after }: Rule, more: Asked = {}): RolloutInput {
  const { siteIds = [SITE], override, keepGoing } = more;
  return rolloutOf([], {
    ...{ key: 'k1', maxFailures: 9, ...definedFields({ override }) },
    options: { ...options, ...definedFields({ keepGoing }) },
    waves: [
      { name: 'canary', ...definedFields({ after }), targets: [{ serverId: CANARY_SERVER, siteIds: [CANARY_SITE] }] },
      { name: 'rest', ...wave, targets: [{ serverId: SERVER, siteIds }] },
    ],
  });
}

/** As a starter does, which finds the key in use the second time. */
const begin = ({ world: { server } }: VirtualStack, rule: Rule, kind: Kind, more: Asked = {}): Run =>
  kind === 'run' ? startRun(server, runInput(rule, more), 'k1') : startRollout(server, rolloutInput(rule, more));

/** What has ended, and was held or failed. */
async function ended(stack: VirtualStack, rule: Rule, kind: Kind): Promise<Run> {
  if (!rule.isAlways) stack.sandbox.script({ site: SITE }, { ends: 'failed' });
  if (!rule.isAlways) stack.sandbox.script({ server: SERVER }, SOON, {});
  else await rule.begin(stack);
  const run = begin(stack, rule, kind);
  // Its second wave was never started, so its ids are free.
  if (kind === 'rollout' && !rule.isAlways) await duringCanary(stack, run, 'abort');
  await stack.result(run);
  if (!rule.isAlways) await rule.begin(stack);
  return run;
}

async function duringCanary(stack: VirtualStack, rollout: Run, decision: DecisionName): Promise<void> {
  await backsUp(stack, CANARY_SERVER);
  await decide(stack, rollout, decision, BY);
}

const heldFrom = (stack: VirtualStack, runs: Run[], ownTypes: readonly string[] = []): Held => ({
  ...{ runs, siteId: SITE, before: deployPosts(stack, SITE), ownTypes },
});

async function reset(stack: VirtualStack, rule: Rule, kind: Kind): Promise<Held> {
  const before = await ended(stack, rule, kind);
  return heldFrom(stack, [resetToBeginning(stack, before)], ['OutcomeUnknown']);
}

const EVENTS: readonly EventKind[] = ['backup.started', 'backup.failed', 'unknown'];

function deliver({ world, startByHand }: VirtualStack, kind: EventKind): Run {
  const receivedAt = new Date(world.clock.nowMs).toISOString();
  const event = { kind, rawKind: kind, serverId: SERVER, siteId: SITE, backupId: null, at: null };
  const input: EventInput = {
    ...{ source: 'panel', deliveryId: fresh('msg'), verified: true, receivedAt, freshForMs: 15 * MINUTE, event },
    ...{ reactions: ['end-wait', 'share', 'hold'], body: {} },
  };
  return startByHand(EVENT_TYPE, eventId('panel', input.deliveryId), input);
}

const FIRED_AT = defineSearchAttributeKey('TemporalScheduledStartTime', 'DATETIME');

/** @param plannedMs when Temporal was to start it; null: now */
async function fire(stack: VirtualStack, rule: Rule, kind: Kind, plannedMs: number | null): Promise<Held> {
  const { world } = stack;
  await rule.begin(stack);
  const input: ScheduledInput = {
    ...{ fleet: 'shop', schedule: 'nightly', when: 'daily', timeZone: 'UTC', catchUpMs: 12 * 60 * MINUTE },
    slot: { granularity: 'instant', times: [] },
    start:
      kind === 'run'
        ? { type: 'backupThenDeploy', input: { ...runInput(rule), service: SERVICE_URL } }
        : { type: ROLLOUT_TYPE, input: { ...rolloutInput(rule), service: SERVICE_URL } },
  };
  const firing = world.server.start({
    ...{ workflowId: 'scheduled:shop:nightly', type: 'runScheduled', input: [payloads.toPayload(input)], memo: {} },
    ...(plannedMs === null ? {} : { attributes: attributePayloads([{ key: FIRED_AT, value: new Date(plannedMs) }]) }),
    taskTimeoutMs: TIMING.worker.workflowTaskMs,
  });
  await stack.until('the end of the firing', () => firing.closedMs !== null);
  const started = world.server.runs.filter(({ type }) => type === input.start.type);
  return { runs: started.length === 0 ? [firing] : started, siteId: SITE, before: 0, ownTypes: [] };
}

/** Starts one, and lets the rule begin a minute later. */
async function begunBefore(stack: VirtualStack, rule: Rule, kind: Kind): Promise<Run> {
  const run = begin(stack, rule, kind);
  await stack.forward(MINUTE);
  await rule.begin(stack);
  return run;
}

export const DOORS: Record<Exclude<DoorName, 'reset of an activity'>, Door> = {
  'reset of a run': { kinds: ['run'], play: reset },
  'reset of a rollout': { kinds: ['rollout'], play: reset },
  retry: {
    kinds: ['rollout'],
    async play(stack, rule) {
      const before = await ended(stack, rule, 'rollout');
      const result = await stack.result<RolloutResult>(before);
      const sent = heldFrom(stack, []);
      const input = nextAttempt(startInput<RolloutInput>(before), result, { epoch: '1' });
      return { ...sent, runs: [startRollout(stack.world.server, input)] };
    },
  },
  resume: {
    kinds: ['rollout'],
    async play(stack, rule) {
      const rollout = begin(stack, rule, 'rollout');
      await duringCanary(stack, rollout, 'pause');
      await rule.begin(stack);
      const held = heldFrom(stack, [rollout]);
      await decide(stack, rollout, 'resume', BY);
      return held;
    },
  },
  '--again': {
    kinds: ['run'],
    async play(stack, rule) {
      const before = await ended(stack, rule, 'run');
      return heldFrom(stack, [startAgain(stack, before)]);
    },
  },
  supersede: {
    kinds: ['run'],
    async play(stack, rule) {
      const older = await begunBefore(stack, rule, 'run');
      const newer = startRun(stack.world.server, runInput(rule, { supersede: true }), 'k2');
      return heldFrom(stack, [older, newer], ['Superseded']);
    },
  },
  override: {
    kinds: BOTH,
    configuration: { freezes: { stock: { from: '2026-03-01T00:00', to: '2026-03-05T00:00', reason: 'inventory' } } },
    async play(stack, rule, kind) {
      await rule.begin(stack);
      const override = { freezes: ['stock'], ...BY };
      return heldFrom(stack, [begin(stack, rule, kind, { override })]);
    },
  },
  keepGoing: {
    kinds: BOTH,
    async play(stack, rule, kind) {
      if (rule.isAlways) await rule.begin(stack);
      else stack.sandbox.script({ site: SITE }, { ends: 'never' });
      if (!rule.isAlways) for (const server of [CANARY_SERVER, SERVER]) stack.sandbox.script({ server }, SOON);
      const run = begin(stack, rule, kind, { siteIds: [SITE, SECOND_SITE], keepGoing: true });
      if (!rule.isAlways) {
        await stack.until('the first deployment', () => deployPosts(stack, SITE) === 1);
        await rule.begin(stack);
        stack.sandbox.finish({ site: SITE }, 'failed');
      }
      // A rollout reports one error of a server, that of the first site.
      return { runs: [run], siteId: SECOND_SITE, before: 0, ownTypes: kind === 'rollout' ? ['DeploymentFailed'] : [] };
    },
  },
  attach: {
    kinds: BOTH,
    async play(stack, rule, kind) {
      const run = await begunBefore(stack, rule, kind);
      assert.throws(() => begin(stack, rule, kind), /the key k1 is in use/);
      return { runs: [run], siteId: SITE, before: 0, ownTypes: [] };
    },
  },
  event: {
    kinds: BOTH,
    async play(stack, rule, kind) {
      const run = await begunBefore(stack, rule, kind);
      for (const event of EVENTS) deliver(stack, event);
      await stack.result(run);
      for (const event of EVENTS) await stack.result<unknown>(deliver(stack, event));
      return { runs: [run], siteId: SITE, before: 0, ownTypes: [] };
    },
  },
  trigger: { kinds: BOTH, play: (stack, rule, kind) => fire(stack, rule, kind, null) },
  backfill: { kinds: BOTH, play: (stack, rule, kind) => fire(stack, rule, kind, START_MS - 30 * MINUTE) },
  'start in the UI': {
    kinds: BOTH,
    async play(stack, rule, kind) {
      await rule.begin(stack);
      // "Start workflow like this one" copies the input of an older one.
      const about = { service: SERVICE_URL, epoch: '1' };
      const run =
        kind === 'run'
          ? stack.startByHand('backupThenDeploy', 'by hand', { ...runInput(rule), ...about })
          : stack.startByHand(ROLLOUT_TYPE, 'by hand', { ...rolloutInput(rule), ...about });
      return heldFrom(stack, [run]);
    },
  },
};
