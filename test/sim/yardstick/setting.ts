/** What the cases of the yardstick are made of. */
import { defaultPayloadConverter as payloads } from '@temporalio/common';
import type { Configuration } from '../../../src/config/load.ts';
import type { RolloutInput } from '../../../src/features/rollouts/shapes.ts';
import type { RunInput } from '../../../src/contract/run.ts';
import type { ScheduledInput } from '../../../src/features/schedules/shapes.ts';
import { TIMING } from '../../../src/contract/timing.ts';
import type { Fault, Route } from '../../../src/sandbox/faults.ts';
import type { ScriptPart } from '../../../src/sandbox/script.ts';
import { status } from '../../support/fault-answers.ts';
import { began } from '../../support/journal.ts';
import { startRollout } from '../plays/start-rollout.ts';
import { type StackOptions, type VirtualStack } from '../stack/stack.ts';
import { SITES_URL } from '../worker/sites.ts';
import { SERVICE_URL } from '../world.ts';
import { ERRORS } from '../rules/rollouts/gated.ts';
import { answer, isAsking } from '../rules/runs/approvals/answers.ts';
import type { Run } from '../temporal/types.ts';

export interface Case {
  play: (stack: VirtualStack) => unknown;
  options?: StackOptions;
}

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const BOTH: RunInput = { serverId: 's1', siteIds: ['a1', 'a2'] };
export const ONE: RunInput = { siteIds: ['a1'] };
export const COMMIT = '3f2c1ab0d9e8f7a63f2c1ab0d9e8f7a63f2c1ab0';
export const ANNE = { by: 'anne', reason: 'the shop is slow' };

export const slow = (ends = 'completed', more: ScriptPart = {}): ScriptPart => ({
  durationMs: 47 * SECOND,
  ends,
  ...more,
});
export const never: ScriptPart = { ends: 'never', words: ['building'] };

/** The site was deployed before, with this end. */
export function deployedBefore({ sandbox }: VirtualStack, ends: string, ...next: ScriptPart[]): void {
  sandbox.script({ site: 'a1' }, { durationMs: 0, ends }, ...next);
  sandbox.act({ site: 'a1' });
}

/** A run of one site that failed before. */
export function afterFailure(next: ScriptPart, input: RunInput = {}, ...faults: Fault[]) {
  return (stack: VirtualStack): Run => {
    deployedBefore(stack, 'failed', next);
    stack.sandbox.fault(...faults);
    return stack.start({ ...ONE, ...input });
  };
}

export const fault = (route: Route, code: number, times = 1, retryAfter?: string): Fault => ({
  ...{ route, times },
  ...status(code, retryAfter),
});
export const unanswered = (route: Route, effect: boolean, times = 1): Fault => ({
  ...{ route, effect, times },
  answer: { kind: 'none' },
});

export const posted = (stack: VirtualStack, target: string, count = 1): Promise<unknown> =>
  stack.until(`request ${count} for ${target}`, () => {
    const { journal } = stack.sandbox;
    return journal.filter(({ by, request }) => by === 'api' && request.startsWith(`POST`) && request.includes(target))[
      count - 1
    ];
  });
export const backedUp = (stack: VirtualStack): Promise<string> =>
  stack.until('the backup', () => began(stack.sandbox, 'backup', 's1')[0]?.began?.id);

export const approvals = (more: object = {}): StackOptions => ({
  configuration: { approvals: { production: { proof: 'none', expiry: HOUR, ...more } } },
});
export const CHECKED: StackOptions = {
  configuration: {
    sites: { a1: { url: `${SITES_URL}/a1/`, check: 'answers' } },
    checks: { answers: { json: { status: 'ok' }, commit: { json: 'commit' } } },
  },
};

export async function decideOn(stack: VirtualStack, run: Run, decision: 'approve' | 'reject', ...people: string[]) {
  const { hash } = await isAsking(stack, run);
  for (const by of people)
    await answer(stack, run, decision, { plan: hash, by, why: 'looked at it', proof: { kind: 'none' } });
}

const server = (number: number) => ({ serverId: `s${number}`, siteIds: [`a${number}`] });
export const FLEET: RolloutInput = {
  ...{ name: 'steady', fleet: 'shop', key: 'k1', maxAtOnce: 2, maxFailures: 0, onFailures: 'stop', options: {} },
  waves: [
    { name: 'canary', targets: [server(1)] },
    { name: 'rest', targets: [server(2), server(3)] },
  ],
};
export const [CANARY, REST] = FLEET.waves as [RolloutInput['waves'][0], RolloutInput['waves'][0]];
export const rollOut = ({ world }: VirtualStack, more: Partial<RolloutInput> = {}): Run =>
  startRollout(world.server, { ...FLEET, ...more });
export const GATED: StackOptions = { configuration: { gates: { errors: ERRORS } } };
export const gated = (more: object = {}): Partial<RolloutInput> => ({
  waves: [{ ...CANARY, after: { gates: ['errors'], ...more } }, REST],
});

export const NOTIFIED: StackOptions = {
  notify: { on: 'all', channels: ['ops'], heartbeats: ['night'], measured: ['night'], reports: ['shop'] },
  configuration: {
    fleets: { shop: { servers: new Map([['s1', { sites: ['a1', 'a2'] }]]) } },
    notify: {
      reports: {
        shop: { kind: 'github', repository: 'acme/shop', token: { env: 'UNUSED' }, for: { sites: ['a1', 'a2'] } },
      },
    },
  },
};
export const FROZEN: Configuration = {
  freezes: { stock: { from: '2026-03-02T08:00', to: '2026-03-02T09:00', reason: 'inventory' } },
};

export function fire({ world }: VirtualStack, id: string): Run {
  const input: ScheduledInput = {
    ...{ fleet: 'shop', schedule: 'nightly', when: 'daily', timeZone: 'UTC', catchUpMs: HOUR },
    slot: { granularity: 'time', times: ['08:00'] },
    start: { type: 'backupThenDeploy', input: { ...BOTH, service: SERVICE_URL } },
  };
  const request = { workflowId: id, type: 'runScheduled', input: [payloads.toPayload(input)], memo: {} };
  return world.server.start({ ...request, taskTimeoutMs: TIMING.worker.workflowTaskMs });
}

/** Neither ends near a read, so that it does not matter how long messages take. */
export const DEFAULTS = { backup: { durationMs: 22_000 }, deployment: { durationMs: 17_000 } };
