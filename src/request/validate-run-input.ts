/** Checks a run's input: the client before it starts a run, and the workflow, because the UI can start runs too. Pure. */
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { COMMIT } from '../contract/wording/commit-text.ts';
import { isRecord } from '../contract/plain-object.ts';
import {
  MAX_APPROVED,
  MAX_META_BYTES,
  MAX_META_ENTRIES,
  MAX_META_LENGTH,
  MAX_OVERRIDES,
  type Limits,
} from './limits.ts';
import { splitPath } from './option-path.ts';
import { RUN_OPTIONS, type OptionType } from './run-options.ts';
import { problemOfText } from './plan-freeze.ts';
import { validateId } from './validate-id.ts';
import { validateTargets } from './validate-targets.ts';
import type { RunType } from '../contract/names.ts';

export const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z$/;
export const TIME_OF_DAY = /^([01]\d|2[0-3]):[0-5]\d$/;

type Check = (value: unknown) => string | null;

/** The first problem of any JSON, with the place in it, or null. */
export function validateRunInput(type: RunType, input: unknown): string | null {
  if (!isRecord(input)) return 'the input is not an object';
  return (
    findUnknownField('', input, [
      ...Object.keys(ROOT_CHECKS),
      'siteIds',
      'targets',
      'backup',
      'deploy',
      'deploysUntil',
      'override',
      'noCheck',
      'approved',
    ]) ??
    validateTargets(type, input) ??
    validateServer(type, input.serverId) ??
    validateFields('', input, ROOT_CHECKS) ??
    validateGroup('backup', input.backup) ??
    validateGroup('deploy', input.deploy) ??
    validateDeadline(input.deploysUntil) ??
    validateOverride(type, input.override) ??
    validateWaiver(type, input.noCheck) ??
    validateApproved(input.approved) ??
    validateMeta(input.meta) ??
    validateCommit(input) ??
    validateSupersede(type, input)
  );
}

function checksOf(group: 'backup' | 'deploy' | null): Record<string, Check> {
  const options = RUN_OPTIONS.filter(({ path }) => splitPath(path).group === group);
  return Object.fromEntries(options.map(({ path, type }) => [splitPath(path).field, checkOf(type)]));
}

function checkOf(type: OptionType): Check {
  switch (type.kind) {
    case 'duration':
    case 'count':
      return wholeNumber(type.limits);
    case 'choice':
      return oneOf(type.of);
    case 'switch':
      return (value) => (typeof value === 'boolean' ? null : 'is neither true nor false');
    case 'id':
      return validateId;
    case 'ids':
      return problemOfIds;
    case 'commit':
      return (value) =>
        typeof value === 'string' && COMMIT.test(value) ? null : 'is not a commit: write 7 to 64 hex digits';
    case 'map':
      return (value) => (isRecord(value) ? null : 'is not an object');
  }
}

/** One id, or a list of different ones. */
export function problemOfIds(value: unknown): string | null {
  if (!Array.isArray(value)) return validateId(value);
  if (value.length === 0 || value.length > MAX_OVERRIDES) return `must have 1 to ${MAX_OVERRIDES} names`;
  if (new Set(value).size < value.length) return 'names one twice';
  return value.map(validateId).find((it) => it !== null) ?? null;
}

const text: Check = (value) => (typeof value === 'string' ? null : 'is not a string');

const ROOT_CHECKS: Record<string, Check> = {
  service: text,
  epoch: text,
  serverId: validateId,
  fleet: validateId,
  ...checksOf(null),
};
const GROUP_CHECKS = { backup: checksOf('backup'), deploy: checksOf('deploy') };

function validateServer(type: RunType, serverId: unknown): string | null {
  const needsServer = type === 'backupThenDeploy' || type === 'backupOnly';
  if (needsServer && serverId === undefined) return `serverId: is missing, ${type} needs the server to back up`;
  if (!needsServer && serverId !== undefined) return `serverId: ${type} makes no backup, leave it out`;
  return null;
}

function validateCommit({ commit, orNewer }: Record<string, unknown>): string | null {
  return orNewer !== undefined && commit === undefined ? 'orNewer: requires a commit' : null;
}

function validateSupersede(type: RunType, { supersede, ifBusy }: Record<string, unknown>): string | null {
  if (supersede !== true) return null;
  if (type !== 'backupThenDeploy' && type !== 'deployOnly') return `supersede: ${type} replaces no run, leave it out`;
  // It would end those that wait, and then deploy nothing itself.
  return ifBusy === 'fail' ? 'supersede: waits for the lock, and ifBusy is fail: leave one out' : null;
}

function validateGroup(name: 'backup' | 'deploy', group: unknown): string | null {
  if (group === undefined) return null;
  if (!isRecord(group)) return `${name}: is not an object`;
  const checks = GROUP_CHECKS[name];
  return findUnknownField(`${name}.`, group, Object.keys(checks)) ?? validateFields(`${name}.`, group, checks);
}

function validateFields(prefix: string, fields: Record<string, unknown>, checks: Record<string, Check>): string | null {
  for (const [name, check] of Object.entries(checks)) {
    const problem = fields[name] === undefined ? null : check(fields[name]);
    if (problem !== null) return `${prefix}${name}: ${problem}`;
  }
  return null;
}

/** A worker finds out whether there is such a time zone. */
function validateDeadline(deadline: unknown): string | null {
  if (deadline === undefined) return null;
  if (!isRecord(deadline)) return 'deploysUntil: is not an object';
  const { time, timeZone, after = new Date(0).toISOString() } = deadline;
  if (typeof time !== 'string' || !TIME_OF_DAY.test(time)) return 'deploysUntil.time: must be a time like 06:00';
  if (typeof timeZone !== 'string') return 'deploysUntil.timeZone: is not a string';
  if (typeof after !== 'string' || !INSTANT.test(after)) return 'deploysUntil.after: is not a time in UTC, ISO 8601';
  return findUnknownField('deploysUntil.', deadline, ['time', 'timeZone', 'after']);
}

function validateOverride(type: RunType, override: unknown): string | null {
  if (override === undefined) return null;
  if (type === 'watchDeployment') return 'override: a watched deployment is held back by no freeze, leave it out';
  if (!isRecord(override)) return 'override: is not an object';
  const { freezes, reason, by } = override;
  if (!Array.isArray(freezes) || freezes.length === 0) return 'override.freezes: must be a list of names';
  if (freezes.length > MAX_OVERRIDES) return `override.freezes: has over ${MAX_OVERRIDES} names`;
  const problem = freezes.map(validateId).find((it) => it !== null);
  if (problem !== undefined) return `override.freezes: ${problem}`;
  if (new Set(freezes).size < freezes.length) return 'override.freezes: names one twice';
  return (
    problemOfText('override.reason', reason) ??
    (by === undefined ? null : problemOfText('override.by', by)) ??
    findUnknownField('override.', override, ['freezes', 'reason', 'by'])
  );
}

function validateWaiver(type: RunType, waiver: unknown): string | null {
  if (waiver === undefined) return null;
  if (type === 'watchDeployment') return 'noCheck: a watched deployment is checked only for its commit, leave that out';
  if (!isRecord(waiver)) return 'noCheck: is not an object';
  const { reason, by } = waiver;
  return (
    problemOfText('noCheck.reason', reason) ??
    (by === undefined ? null : problemOfText('noCheck.by', by)) ??
    findUnknownField('noCheck.', waiver, ['reason', 'by'])
  );
}

/** Its shape only: workers verify what was approved. */
function validateApproved(approved: unknown): string | null {
  if (approved === undefined) return null;
  const isShaped = (it: unknown) =>
    isRecord(it) && isPlan(it.plan) && Array.isArray(it.yeses) && it.yeses.every(isYes) && isPart(it.part);
  const isGood = Array.isArray(approved) && approved.length <= MAX_APPROVED && approved.every(isShaped);
  return isGood ? null : 'approved: is not what a rollout gives its runs, leave it out';
}

const isPlan = (plan: unknown): boolean => isRecord(plan) && Array.isArray(plan.rules) && isRecord(plan.parts);

const isPart = (part: unknown): boolean => isRecord(part) && Array.isArray(part.targets) && Array.isArray(part.path);

const isYes = (yes: unknown): boolean => isRecord(yes) && isRecord(yes.proof) && typeof yes.by === 'string';

const SECRET_NAME =
  /(^|_)(token|password|passwd|passphrase|secret|credentials?|apikey|(api|access|private|secret|ssh|deploy|signing|encryption)_key)(_|$)/;

function isSecretName(name: string): boolean {
  const words = name.replace(/([a-z\d])([A-Z])/g, '$1_$2').split(/[^A-Za-z\d]+/);
  return SECRET_NAME.test(words.join('_').toLowerCase());
}

function validateMeta(meta: unknown): string | null {
  if (!isRecord(meta)) return null;
  const entries = Object.entries(meta);
  if (entries.length > MAX_META_ENTRIES) return `meta: has over ${MAX_META_ENTRIES} entries`;
  for (const [name, value] of entries) {
    if (name === '' || name.length > MAX_META_LENGTH)
      return `meta: a name is empty or over ${MAX_META_LENGTH} characters`;
    if (typeof value !== 'string') return `meta.${name}: is not a string`;
    if (isSecretName(name))
      return `meta.${name}: notes are stored as they are, and this is the name of a secret: omit it`;
    if (value.length > MAX_META_LENGTH)
      return `meta.${name}: has ${value.length} characters, at most ${MAX_META_LENGTH} are allowed`;
  }
  // As JSON, which takes up to six bytes for a control character.
  const bytes = utf8ToBytes(JSON.stringify(entries.flat().join(''))).length;
  if (bytes > MAX_META_BYTES) return `meta: has ${bytes} bytes in all, at most ${MAX_META_BYTES} are allowed`;
  return null;
}

function findUnknownField(prefix: string, fields: Record<string, unknown>, known: string[]): string | null {
  const unknown = Object.keys(fields).find((name) => !known.includes(name));
  return unknown === undefined ? null : `${prefix}${unknown}: is not a field of a run's input`;
}

function wholeNumber([min, max]: Limits): Check {
  return (value) =>
    Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max
      ? null
      : `must be a whole number from ${min} to ${max}`;
}

function oneOf(values: readonly string[]): Check {
  return (value) => (values.includes(value as string) ? null : `must be one of ${values.join(', ')}`);
}
