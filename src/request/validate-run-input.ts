/** What a run may be asked for, and its defaults. The starter and the workflow check with the same words. Pure. */
import type { DeployOptions, Evidence, RunInput, RunType } from '../contract/run.ts';
import { EVIDENCE } from '../contract/run.ts';
import { isRecord } from '../contract/plain-object.ts';

export const MAX_ID_LENGTH = 200;
/** So many stay inside Temporal's limit of 51,200 events, those of a slow service and hinted ones, too. */
export const MAX_TRIES = 2_000;
export const MAX_SITES = 1_000;
/** Servers of a rollout that are under way. */
export const MAX_AT_ONCE = 200;
export const MAX_META_ENTRIES = 50;
export const MAX_META_LENGTH = 200;
export const MIN_SETTLE_MS = 10_000;
const HOUR_MS = 3_600_000;

/** From, to. */
export const LIMITS = {
  intervalMs: [10, 24 * HOUR_MS],
  tries: [1, MAX_TRIES],
  durationMs: [0, 10 * 365 * 24 * HOUR_MS],
  startWithinMs: [1, 10 * 365 * 24 * HOUR_MS],
  // A waiter adds ten events to its history every 15 s.
  busyTimeoutMs: [0, 12 * HOUR_MS],
} as const;

export const DEFAULTS = {
  backup: { intervalMs: 15_000, tries: 20 },
  deploy: { intervalMs: 10_000, tries: 30 },
  busyTimeoutMs: HOUR_MS / 2,
  startWithinMs: HOUR_MS / 6,
} as const;

/** A run's input with every default filled in. */
export interface RunPlan {
  backup: { intervalMs: number; tries: number; maxAgeMs: number | null; backupId: string | null };
  deploy: Required<DeployOptions>;
  ifBusy: 'wait' | 'fail';
  busyTimeoutMs: number;
  startWithinMs: number;
  keepGoing: boolean;
}

export function planOf(input: RunInput): RunPlan {
  const intervalMs = input.deploy?.intervalMs ?? DEFAULTS.deploy.intervalMs;
  const tries = input.deploy?.tries ?? DEFAULTS.deploy.tries;
  return {
    backup: {
      intervalMs: input.backup?.intervalMs ?? DEFAULTS.backup.intervalMs,
      tries: input.backup?.tries ?? DEFAULTS.backup.tries,
      maxAgeMs: input.backup?.maxAgeMs ?? null,
      backupId: input.backup?.backupId ?? null,
    },
    deploy: {
      intervalMs,
      tries,
      settleMs: Math.max(input.deploy?.settleMs ?? 6 * intervalMs, MIN_SETTLE_MS),
      minEvidence: input.deploy?.minEvidence ?? 'settled',
      baselineWaitMs: input.deploy?.baselineWaitMs ?? tries * intervalMs,
      onAmbiguous: input.deploy?.onAmbiguous ?? 'resend',
    },
    ifBusy: input.ifBusy ?? 'wait',
    busyTimeoutMs: input.busyTimeoutMs ?? DEFAULTS.busyTimeoutMs,
    startWithinMs: input.startWithinMs ?? DEFAULTS.startWithinMs,
    keepGoing: input.keepGoing ?? false,
  };
}

/** What is wrong with an id, or null. */
export function problemOfId(id: unknown): string | null {
  if (typeof id !== 'string') return 'is not a string';
  if (id === '') return 'is empty';
  if (id === '.' || id === '..') return `must not be "${id}"`;
  if (id.length > MAX_ID_LENGTH) return `has ${id.length} characters, at most ${MAX_ID_LENGTH} are allowed`;
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\u0000-\u001f\u007f-\u009f]/.test(id)) return 'has control characters';
  if (/\p{Surrogate}/u.test(id)) return 'is not well-formed Unicode';
  return null;
}

/** The first problem of a run's input in words that name the place, or null. Takes any JSON: the UI can start runs. */
export function problemOfInput(type: RunType, input: unknown): string | null {
  if (!isRecord(input)) return 'the input is not an object';
  return (
    unknownField('', input, [...Object.keys(ROOT_RULES), 'siteIds', 'backup', 'deploy', 'meta']) ??
    problemOfSites(type, input.siteIds) ??
    problemOfServer(type, input.serverId) ??
    problemOfFields('', input, ROOT_RULES) ??
    problemOfGroup('backup', input.backup, BACKUP_RULES) ??
    problemOfGroup('deploy', input.deploy, DEPLOY_RULES) ??
    problemOfMeta(input.meta)
  );
}

type Rule = (value: unknown) => string | null;

const id: Rule = problemOfId;
const tries = wholeNumber(LIMITS.tries);
const intervalMs = wholeNumber(LIMITS.intervalMs);
const durationMs = wholeNumber(LIMITS.durationMs);

const ROOT_RULES: Record<string, Rule> = {
  service: (value) => (typeof value === 'string' ? null : 'is not a string'),
  serverId: id,
  ifBusy: oneOf(['wait', 'fail']),
  busyTimeoutMs: wholeNumber(LIMITS.busyTimeoutMs),
  startWithinMs: wholeNumber(LIMITS.startWithinMs),
  heartbeat: id,
  keepGoing: (value) => (typeof value === 'boolean' ? null : 'is neither true nor false'),
};
const BACKUP_RULES: Record<string, Rule> = { intervalMs, tries, maxAgeMs: durationMs, backupId: id };
const DEPLOY_RULES: Record<string, Rule> = {
  intervalMs,
  tries,
  settleMs: durationMs,
  baselineWaitMs: durationMs,
  minEvidence: oneOf<Evidence>(EVIDENCE),
  onAmbiguous: oneOf(['resend', 'stop']),
};

function problemOfSites(type: RunType, siteIds: unknown): string | null {
  if (!Array.isArray(siteIds)) return 'siteIds: is not a list';
  if (type === 'backupOnly') return siteIds.length === 0 ? null : 'siteIds: backupOnly deploys nothing, leave it empty';
  if (siteIds.length === 0) return `siteIds: is empty, ${type} needs a site`;
  if (type === 'watchDeployment' && siteIds.length > 1) return 'siteIds: watchDeployment follows one site';
  if (siteIds.length > MAX_SITES) return `siteIds: has ${siteIds.length} sites, at most ${MAX_SITES} are allowed`;
  for (const [index, siteId] of siteIds.entries()) {
    const problem = problemOfId(siteId);
    if (problem !== null) return `siteIds[${index}]: ${problem}`;
    if (siteIds.indexOf(siteId) < index) return `siteIds[${index}]: names the site ${String(siteId)} twice`;
  }
  return null;
}

function problemOfServer(type: RunType, serverId: unknown): string | null {
  const wanted = type === 'backupThenDeploy' || type === 'backupOnly';
  if (wanted && serverId === undefined) return `serverId: is missing, ${type} needs the server to back up`;
  if (!wanted && serverId !== undefined) return `serverId: ${type} makes no backup, leave it out`;
  return null;
}

function problemOfGroup(name: string, group: unknown, rules: Record<string, Rule>): string | null {
  if (group === undefined) return null;
  if (!isRecord(group)) return `${name}: is not an object`;
  return unknownField(`${name}.`, group, Object.keys(rules)) ?? problemOfFields(`${name}.`, group, rules);
}

function problemOfFields(prefix: string, fields: Record<string, unknown>, rules: Record<string, Rule>): string | null {
  for (const [name, rule] of Object.entries(rules)) {
    const problem = fields[name] === undefined ? null : rule(fields[name]);
    if (problem !== null) return `${prefix}${name}: ${problem}`;
  }
  return null;
}

function problemOfMeta(meta: unknown): string | null {
  if (meta === undefined) return null;
  if (!isRecord(meta)) return 'meta: is not an object';
  const entries = Object.entries(meta);
  if (entries.length > MAX_META_ENTRIES) return `meta: has over ${MAX_META_ENTRIES} entries`;
  for (const [name, value] of entries) {
    if (name === '' || name.length > MAX_META_LENGTH)
      return `meta: a name is empty or over ${MAX_META_LENGTH} characters`;
    if (typeof value !== 'string') return `meta.${name}: is not a string`;
  }
  return null;
}

function unknownField(prefix: string, fields: Record<string, unknown>, known: string[]): string | null {
  const stranger = Object.keys(fields).find((name) => !known.includes(name));
  return stranger === undefined ? null : `${prefix}${stranger}: is no field of a run's input`;
}

function wholeNumber([min, max]: readonly [number, number]): Rule {
  return (value) =>
    Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max
      ? null
      : `must be a whole number from ${min} to ${max}`;
}

function oneOf<T extends string>(values: readonly T[]): Rule {
  return (value) => (values.includes(value as T) ? null : `must be one of ${values.join(', ')}`);
}
