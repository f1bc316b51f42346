/** What tests of rollouts need: a rollout with the options of production, and what it has begun. */
import { defaultPayloadConverter as payloads } from '@temporalio/common';
import type { EventInput } from '../../../../src/features/events/shapes.ts';
import { HOLD_SIGNAL } from '../../../../src/contract/names.ts';
import type { RolloutInput, RolloutPhase, RolloutTarget } from '../../../../src/features/rollouts/shapes.ts';
import { eventId } from '../../../../src/contract/ids.ts';
import { began } from '../../../support/journal.ts';
import { fresh } from '../../../support/fresh.ts';
import { rolloutOf } from '../../../support/rollouts.ts';
import { phasesOf, searchAttribute } from '../../stack/inspect.ts';
import { inVirtualTime, MOMENT_MS, type StackOptions, type VirtualStack } from '../../stack/stack.ts';
import { startRollout } from '../../plays/start-rollout.ts';
import type { Run } from '../../temporal/types.ts';

export const ANNE = { by: 'anne', reason: 'the shop is slow' };

export const inFleet = (body: (stack: VirtualStack) => Promise<void>, more: StackOptions = {}) =>
  inVirtualTime(body, { defaults: { backup: { durationMs: 60_000 }, deployment: { durationMs: 30_000 } }, ...more });

const steady = (targets: RolloutTarget[], more: Partial<RolloutInput> = {}): RolloutInput =>
  rolloutOf(targets, { options: {}, ...more });

export const begin = ({ world }: VirtualStack, targets: RolloutTarget[], more: Partial<RolloutInput> = {}): Run =>
  startRollout(world.server, steady(targets, more));

export const deployments = ({ sandbox }: VirtualStack, siteId = ''): number =>
  began(sandbox, 'deployment', siteId).length;
export const backups = ({ sandbox }: VirtualStack, serverId = ''): number => began(sandbox, 'backup', serverId).length;

/** Lets time pass until the rollout has shown the phase that many times. */
export const reaches = ({ until }: VirtualStack, run: Run, phase: RolloutPhase, times = 1): Promise<unknown> =>
  until(`the phase ${phase}`, () => {
    const shown = phasesOf(run).filter((it) => it.phase === phase);
    return shown.length >= times && searchAttribute(run, 'BelayPhase') === phase;
  });

/** Lets time pass until the server has its backup in progress. */
export const backsUp = (stack: VirtualStack, serverId: string): Promise<unknown> =>
  stack.until('the backup', () => backups(stack, serverId) === 1);

export async function hold({ signal, forward }: VirtualStack, run: Run, serverId = ''): Promise<void> {
  signal(run.workflowId, HOLD_SIGNAL, { serverId, event: fresh('event:panel:'), reason: 'an alert fired' });
  await forward(MOMENT_MS);
}

/** Starts an event workflow as the receiver does. */
export function deliver({ world }: VirtualStack, kind: EventInput['event']['kind'], serverId = '', verified = true) {
  const deliveryId = fresh('msg');
  const event = { kind, rawKind: kind, serverId, siteId: null, backupId: null, at: null };
  const about = { receivedAt: new Date(world.clock.nowMs).toISOString(), freshForMs: 60_000, body: {} };
  const input: EventInput = { source: 'panel', deliveryId, verified, ...about, event, reactions: ['hold'] };
  const workflowId = eventId('panel', deliveryId);
  const start = { workflowId, type: 'handleEvent', input: [payloads.toPayload(input)], memo: {} };
  return world.server.startOnce({ ...start, taskTimeoutMs: 10_000 })!;
}
