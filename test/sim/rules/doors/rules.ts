/** The rules that every door has to keep: how each comes into force, and what shows that it held. */
import type { Configuration } from '../../../../src/config/load.ts';
import type { WaveAfter } from '../../../../src/features/gates/shapes.ts';
import type { RolloutWave, RunOptions } from '../../../../src/features/rollouts/shapes.ts';
import { allowedSigners } from '../../../support/ssh-signer.ts';
import { freezeNow } from '../../stack/freeze-now.ts';
import type { StackOptions, VirtualStack } from '../../stack/stack.ts';
import { SITES_URL } from '../../worker/sites.ts';
import { START_MS } from '../../world.ts';
import { ERRORS } from '../rollouts/gated.ts';
import { ANA, SIGNERS_FILE } from '../runs/approvals/answers.ts';

/** What a door starts. */
export type Kind = 'run' | 'rollout';

export const RULE_NAMES = [
  ...(['freeze', 'window', 'approval', 'gate', 'check', 'inventory'] as const),
  ...(['backup age', 'deadline', 'epoch', 'service'] as const),
];
export type RuleName = (typeof RULE_NAMES)[number];

export interface Rule {
  configuration: (kind: Kind) => Configuration;
  /** What a run or rollout has to ask for. */
  options?: Partial<RunOptions>;
  /** Of the wave that it holds. */
  wave?: Partial<RolloutWave>;
  /** What follows the wave before it. */
  after?: WaveAfter;
  /** Whether it also holds what was started before `begin`. */
  isAlways: boolean;
  /** From here on, nothing may pass. */
  begin: (stack: VirtualStack) => void | Promise<void>;
  /** The types of error by which it holds. */
  types: readonly string[];
  /** How many requests each start may send for a site that it holds. */
  requests: 0 | 1;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** The servers and sites of all doors. The first wave of a rollout has its own, and no rule has to hold that one. */
export const [SERVER, CANARY_SERVER] = ['s1', 's0'];
export const [SITE, SECOND_SITE, CANARY_SITE] = ['a1', 'a2', 'a0'];

const BACKUP_MS = 3 * MINUTE;

const nothing = () => ({});
const always = { isAlways: true, begin: () => {}, requests: 0 } as const;
const fromNow = { isAlways: false, requests: 0 } as const;

/** Other workers take over, which have another configuration. */
const changeWorkers = ({ world }: VirtualStack, settings: Parameters<typeof world.addWorker>[0]) => {
  world.endWorkers();
  world.addWorker(settings);
};

export const RULES: Record<RuleName, Rule> = {
  freeze: {
    ...{ ...fromNow, configuration: nothing, types: ['Frozen'] },
    begin: ({ world }) => void freezeNow(world.server, { forMs: 48 * HOUR }),
  },
  window: {
    ...{ ...fromNow, types: ['Frozen'] },
    configuration: () => ({ windows: { early: { cron: '0 7 * * *', lasts: HOUR + 2 * MINUTE } } }),
    begin: ({ world, forward }) => forward(Math.max(0, START_MS + 2 * MINUTE + 1_000 - world.clock.nowMs)),
  },
  approval: {
    ...{ ...always, types: ['ApprovalExpired'] },
    // A rollout asks because its wave names it: then no policy for its sites catches what slips through.
    configuration: (kind) => ({
      approvals: {
        production: {
          ...{ proof: 'ssh', signers: { file: SIGNERS_FILE }, expiry: HOUR },
          ...(kind === 'rollout' ? { for: { sites: ['no such site'] } } : {}),
        },
      },
    }),
    wave: { approval: 'production' },
  },
  gate: {
    ...{ ...always, types: ['GateFailed'] },
    configuration: () => ({ gates: { errors: ERRORS } }),
    begin: ({ world }) => void (world.meter.shows = () => '0.5'),
    after: { gates: ['errors'] },
  },
  check: {
    ...{ ...always, types: ['CheckFailed'], requests: 1 },
    configuration: () => ({
      sites: Object.fromEntries(
        [SITE, SECOND_SITE].map((it) => [it, { url: `${SITES_URL}/${it}/`, check: 'answers' }]),
      ),
      checks: { answers: { json: { status: 'ok' } } },
    }),
    begin: ({ sandbox }) => {
      for (const target of [SITE, SECOND_SITE])
        sandbox.fault({ route: 'page', target, answer: { kind: 'status', code: 503 }, times: 9_999 });
    },
  },
  inventory: {
    ...{ ...always, types: ['Usage'] },
    configuration: () => ({ fleets: { shop: { servers: new Map([['s9', { sites: [SITE, SECOND_SITE] }]]) } } }),
  },
  'backup age': {
    ...{ ...always, configuration: nothing, types: ['TooLate'] },
    options: { backup: { maxAgeAtDeployMs: MINUTE } },
  },
  deadline: {
    ...{ ...always, configuration: nothing, types: ['TooLate'] },
    options: { startDeploysWithinMs: MINUTE },
  },
  epoch: {
    ...{ ...fromNow, configuration: nothing, types: ['OutcomeUnknown'] },
    begin: (stack) => changeWorkers(stack, { epoch: new Date(stack.world.clock.nowMs).toISOString() }),
  },
  service: {
    ...{ ...fromNow, configuration: nothing, types: ['Refused', 'OutcomeUnknown'] },
    // Workers of another service cannot follow what was begun.
    begin: (stack) => changeWorkers(stack, { service: 'http://another.example' }),
  },
};

/** What every door lets through: without it, a cell could hold by itself. */
export const NO_RULE: Rule = { ...fromNow, configuration: nothing, begin: () => {}, types: [] };

/** The world of a cell. Every one has a freeze that a run may be let off, and that holds no other back. */
export const worldOf = (rule: Rule, kind: Kind, more: Configuration = {}): StackOptions => {
  const configuration = { ...rule.configuration(kind), ...more };
  const files = new Map([[SIGNERS_FILE, allowedSigners({ ana: ANA })]]);
  const defaults = { backup: { durationMs: BACKUP_MS }, deployment: { durationMs: 30_000 } };
  return { configuration, files, defaults };
};
