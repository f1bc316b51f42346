/**
 * The options of a run, one row for each. The command line, belay.yaml, program input, rollouts, schedules, the JSON
 * Schema and docs/reference/cli.md are derived from this table. A field of `RunInput` without a row does not compile.
 * Pure.
 */
import { TIMING } from '../contract/timing.ts';
import { HOUR_MS } from '../contract/duration.ts';
import { LIMITS, type Limits } from './limits.ts';
import type { RunPlan, RunInput } from '../contract/run.ts';
import { EVIDENCE } from '../contract/names.ts';
import type { TargetsInput } from '../contract/target.ts';
import type { RunOptions } from '../features/rollouts/shapes.ts';

export type RunCommand = 'run' | 'backup' | 'deploy' | 'watch';

export type OptionType =
  | { kind: 'duration' | 'count'; limits: Limits }
  | { kind: 'choice'; of: readonly string[] }
  | { kind: 'switch' | 'id' | 'ids' | 'commit' | 'map' };

/** A default that is made from options of earlier rows. */
interface DerivedDefault<V> {
  from: (plan: RunPlan) => V;
  text: string;
}

interface RowOf<P extends RunOptionPath = RunOptionPath> {
  flag: `--${string}`;
  commands: readonly RunCommand[];
  type: OptionType;
  /** The key in belay.yaml, below the same group. Absent if the option is not in belay.yaml. */
  yaml?: string;
  default?: ValueAt<P>;
  derived?: DerivedDefault<ValueAt<P>>;
  /** A smaller number counts as this one. */
  atLeast?: number;
  conflicts?: RunOptionPath;
  /** False if it is no part of the plan that a key compares, because the run does the same without it. */
  isPlanned?: false;
  /** Why a rollout does not take the option for the runs of its servers, as the end of a message. */
  notInRollout?: string;
  /** A phrase that follows the flag, verb first. */
  help: string;
}

const BACKUP: readonly RunCommand[] = ['run', 'backup'];
const DEPLOY: readonly RunCommand[] = ['run', 'deploy'];
const VERDICT: readonly RunCommand[] = ['run', 'deploy', 'watch'];
/** The commands that send a request to the service. */
const SENDING: readonly RunCommand[] = ['run', 'backup', 'deploy'];
const ALL: readonly RunCommand[] = ['run', 'backup', 'deploy', 'watch'];

const { minSettleMs } = TIMING.verdict;

const FIELD_OF_ROLLOUT = 'is not an option of a server: write it beside options';

const ageAtDeploy = ({ backup }: RunPlan) => Math.max(24 * HOUR_MS, (backup.maxAgeMs ?? 0) + HOUR_MS);

/** A row does not compile unless it and `RunOptions` agree on whether a rollout takes the option. */
type InRollout<P> = P extends PathIn<RunOptions> ? { notInRollout?: never } : { notInRollout: string };

const ROWS: { readonly [P in RunOptionPath]: RowOf<P> & InRollout<P> } = {
  'backup.intervalMs': {
    flag: '--backup-interval',
    commands: BACKUP,
    type: { kind: 'duration', limits: LIMITS.intervalMs },
    yaml: 'interval',
    default: 15_000,
    help: 'time between two reads of the backup status',
  },
  'backup.tries': {
    flag: '--backup-tries',
    commands: BACKUP,
    type: { kind: 'count', limits: LIMITS.tries },
    yaml: 'tries',
    default: 20,
    help: 'number of reads before the backup times out',
  },
  'backup.maxAgeMs': {
    flag: '--max-backup-age',
    commands: BACKUP,
    type: { kind: 'duration', limits: LIMITS.durationMs },
    yaml: 'maxAge',
    help: 'reuse a completed backup that began at most this long ago',
  },
  'backup.maxAgeAtDeployMs': {
    flag: '--max-backup-age-at-deploy',
    commands: ['run'],
    type: { kind: 'duration', limits: LIMITS.durationMs },
    yaml: 'maxAgeAtDeploy',
    derived: { from: ageAtDeploy, text: '24h, or --max-backup-age plus 1h if that is longer' },
    help: 'trigger a deployment only while the backup is at most this old',
  },
  'backup.backupId': {
    flag: '--backup-id',
    commands: BACKUP,
    type: { kind: 'id' },
    conflicts: 'backup.maxAgeMs',
    notInRollout: 'a rollout backs up each server, leave it out',
    help: 'use this existing backup; wait for it if it is still running',
  },
  'deploy.intervalMs': {
    flag: '--deploy-interval',
    commands: VERDICT,
    type: { kind: 'duration', limits: LIMITS.intervalMs },
    yaml: 'interval',
    default: 10_000,
    help: 'time between two reads of the deployment status',
  },
  'deploy.tries': {
    flag: '--deploy-tries',
    commands: VERDICT,
    type: { kind: 'count', limits: LIMITS.tries },
    yaml: 'tries',
    default: 30,
    help: 'number of reads before the deployment times out',
  },
  'deploy.settleMs': {
    flag: '--settle',
    commands: VERDICT,
    type: { kind: 'duration', limits: LIMITS.durationMs },
    yaml: 'settle',
    derived: { from: ({ deploy }) => 6 * deploy.intervalMs, text: '6 × interval, at least 10s' },
    atLeast: minSettleMs,
    help:
      'how long a final status must stay unchanged to be accepted, ' +
      'and how long to look for a trace of an ambiguous request',
  },
  'deploy.minEvidence': {
    flag: '--min-evidence',
    commands: VERDICT,
    type: { kind: 'choice', of: EVIDENCE },
    yaml: 'minEvidence',
    default: 'settled',
    help: 'weakest evidence to accept; anything weaker is "unknown"',
  },
  'deploy.baselineWaitMs': {
    flag: '--baseline-wait',
    commands: DEPLOY,
    type: { kind: 'duration', limits: LIMITS.durationMs },
    yaml: 'baselineWait',
    derived: { from: ({ deploy }) => deploy.tries * deploy.intervalMs, text: 'tries × interval' },
    help: 'longest time to wait for another deployment to finish before the trigger',
  },
  'deploy.onAmbiguous': {
    flag: '--on-ambiguous',
    commands: DEPLOY,
    type: { kind: 'choice', of: ['resend', 'stop'] },
    yaml: 'onAmbiguous',
    default: 'resend',
    help: 'what to do when a request may have been lost and left no trace',
  },
  waits: {
    flag: '--waits',
    commands: SENDING,
    type: { kind: 'choice', of: ['loop', 'pooled'] },
    yaml: 'waits',
    default: 'loop',
    help: 'who reads the status of an operation in progress: its workflow, or a worker for many operations at once',
  },
  startDeploysWithinMs: {
    flag: '--start-deploys-within',
    commands: DEPLOY,
    type: { kind: 'duration', limits: LIMITS.durationMs },
    yaml: 'startDeploysWithin',
    help: 'trigger no deployment later than this after the run started',
  },
  keepGoing: {
    flag: '--keep-going',
    commands: DEPLOY,
    type: { kind: 'switch' },
    yaml: 'keepGoing',
    default: false,
    help: 'deploy the next target even if one is not completed',
  },
  supersede: {
    flag: '--supersede',
    commands: DEPLOY,
    type: { kind: 'switch' },
    default: false,
    notInRollout: 'a rollout replaces no run, leave it out',
    help: 'replace older runs that wait and that this one covers: the same server, and all of their sites and apps',
  },
  commit: {
    flag: '--commit',
    commands: VERDICT,
    type: { kind: 'commit' },
    help: 'commit that the sites have to show afterwards, 7 to 64 hex digits; each needs a check that reads it, or a report',
  },
  orNewer: {
    flag: '--or-newer',
    commands: VERDICT,
    type: { kind: 'switch' },
    default: false,
    help: 'accept any commit but the one before, since the branch may have moved on; requires --commit',
  },
  ifBusy: {
    flag: '--if-busy',
    commands: SENDING,
    type: { kind: 'choice', of: ['wait', 'fail'] },
    yaml: 'ifBusy',
    default: 'wait',
    help:
      'what to do while another deployment of the target is in progress or the service answers 409 or 423; ' +
      'the lock of a server is always waited for',
  },
  busyTimeoutMs: {
    flag: '--busy-timeout',
    commands: SENDING,
    type: { kind: 'duration', limits: LIMITS.busyTimeoutMs },
    yaml: 'busyTimeout',
    default: HOUR_MS / 2,
    help: 'longest time to wait for the lock',
  },
  ifFrozen: {
    flag: '--if-frozen',
    commands: SENDING,
    type: { kind: 'choice', of: ['fail', 'wait'] },
    yaml: 'ifFrozen',
    default: 'fail',
    help: 'what to do while a freeze or window holds the run back; a run that waits holds no lock',
  },
  freezeWaitMs: {
    flag: '--freeze-wait',
    commands: SENDING,
    type: { kind: 'duration', limits: LIMITS.freezeWaitMs },
    yaml: 'freezeWait',
    default: 12 * HOUR_MS,
    help: 'longest total time to wait for the end of freezes, with --if-frozen wait',
  },
  approval: {
    flag: '--approval',
    commands: DEPLOY,
    type: { kind: 'ids' },
    notInRollout: FIELD_OF_ROLLOUT,
    help: "ask for this approval of the worker's belay.yaml before anything begins, besides those that it asks for anyway (repeatable)",
  },
  outageBudgetMs: {
    flag: '--outage-budget',
    commands: ALL,
    type: { kind: 'duration', limits: LIMITS.durationMs },
    yaml: 'outageBudget',
    help: 'longest total time for which a backup or deployment waits while the service does not answer',
  },
  heartbeat: {
    flag: '--heartbeat',
    commands: ALL,
    type: { kind: 'id' },
    isPlanned: false,
    notInRollout: FIELD_OF_ROLLOUT,
    help: "call this address of notify.heartbeats in the worker's belay.yaml when the run is completed",
  },
  meta: {
    flag: '--meta',
    commands: ALL,
    type: { kind: 'map' },
    isPlanned: false,
    notInRollout: FIELD_OF_ROLLOUT,
    help: 'note that comes back in the result, cut after 200 characters (repeatable; 4 KB in all); by, commit and job are noted in CI',
  },
  startWithinMs: {
    flag: '--start-within',
    commands: ALL,
    type: { kind: 'duration', limits: LIMITS.startWithinMs },
    default: HOUR_MS / 6,
    notInRollout: 'a rollout starts its runs itself, leave it out',
    help: 'start nothing if no worker admits the run in this time',
  },
};

export type RunOptionRow = RowOf & { path: RunOptionPath };

/** Keeps the order of the table, because later rows derive their defaults from earlier ones. */
export const RUN_OPTIONS = Object.entries(ROWS).map(([path, row]) => ({ path, ...row })) as readonly RunOptionRow[];

/* Paths of options in a run's input, such as `deploy.settleMs` or `keepGoing`. Pure. */

type OptionGroup = 'backup' | 'deploy';
type GroupPath<I extends RunInput | RunOptions, G extends OptionGroup> = `${G}.${keyof NonNullable<I[G]> & string}`;

type PathIn<I extends RunInput | RunOptions> =
  | GroupPath<I, 'backup'>
  | GroupPath<I, 'deploy'>
  | Exclude<
      keyof I & string,
      | OptionGroup
      | keyof TargetsInput
      | 'service'
      | 'epoch'
      | 'serverId'
      | 'fleet'
      | 'deploysUntil'
      | 'override'
      | 'noCheck'
      | 'approved'
      | 'letOff'
    >;

/** Every field of a run's input that is an option. */
export type RunOptionPath = PathIn<RunInput>;

type ValueAt<P extends RunOptionPath> = P extends `${infer G extends OptionGroup}.${infer F}`
  ? NonNullable<NonNullable<RunInput[G]>[F & keyof NonNullable<RunInput[G]>]>
  : NonNullable<RunInput[P & keyof RunInput]>;

type Tree = Record<string, unknown>;

/** @returns the name of the field, and its group; the group is null for a field of the input itself */
export function splitPath(path: RunOptionPath): { group: OptionGroup | null; field: string } {
  const [first = '', second] = path.split('.');
  return second === undefined ? { group: null, field: first } : { group: first as OptionGroup, field: second };
}

export function valueAt(tree: object, path: RunOptionPath): unknown {
  const { group, field } = splitPath(path);
  const branch = group === null ? tree : ((tree as Tree)[group] ?? {});
  return (branch as Tree)[field];
}

export function setValueAt(tree: object, path: RunOptionPath, value: unknown): void {
  const { group, field } = splitPath(path);
  const branch = group === null ? tree : ((tree as Tree)[group] ??= {});
  (branch as Tree)[field] = value;
}

/** Fills in every default of a run's input. */
export function planRun(input: RunInput): RunPlan {
  const plan = {} as RunPlan;
  for (const option of RUN_OPTIONS.filter(({ isPlanned }) => isPlanned !== false)) {
    const given = valueAt(input, option.path) ?? option.derived?.from(plan) ?? option.default ?? null;
    // Pages and code hosts write the digits of a commit in lower case.
    const value = option.type.kind === 'commit' && typeof given === 'string' ? given.toLowerCase() : given;
    const { atLeast } = option;
    setValueAt(plan, option.path, atLeast === undefined ? value : Math.max(value as number, atLeast));
  }
  return plan;
}
