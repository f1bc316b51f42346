/**
 * A worker's name in Temporal's lists, with its version, host, process, service, start time, encryption and epoch.
 * Pure.
 */
import { definedFields } from './plain-object.ts';

export interface WorkerIdentity {
  version: string;
  /** `host:pid` */
  where: string;
  /** The identity of the service. */
  service: string;
  /** ISO 8601. */
  since: string;
  /** Absent in older versions. */
  epoch?: string;
  /** True if the worker encrypts what it gives to Temporal. */
  encrypts?: boolean;
}

export function identityText({ version, where, service, since, epoch, encrypts = false }: WorkerIdentity): string {
  const encrypting = encrypts ? ' encrypting' : '';
  const inEpoch = epoch === undefined ? '' : ` in epoch ${epoch}`;
  return `belay/${version} ${where} for ${service} since ${since}${encrypting}${inEpoch}`;
}

/** @returns null for the identity of a program that is no worker of Belay */
export function parseIdentity(identity: string): WorkerIdentity | null {
  const match = /^belay\/(\S+) (\S+) for (.+) since (\S+)( encrypting)?(?: in epoch (.+))?$/.exec(identity);
  if (match === null) return null;
  const [, version = '', where = '', service = '', since = '', encrypting, epoch] = match;
  const encrypts = encrypting === undefined ? {} : { encrypts: true };
  return { version, where, service, since, ...definedFields({ epoch }), ...encrypts };
}

/** Empty if these workers do not agree on the epoch. */
export function epochOf(identities: readonly string[]): { epoch?: string } {
  const [epoch, ...others] = new Set(identities.map((identity) => parseIdentity(identity)?.epoch));
  return others.length > 0 ? {} : definedFields({ epoch });
}

/* A build of the workers, if they are versioned. Pure. */

/**
 * A global variable of workflow code on a versioned worker. Temporal accepts the versioning behavior of a workflow only
 * from such workers.
 */
export const VERSIONED_WORKER = 'belayVersionedWorker';

export interface WorkerVersion {
  deploymentName: string;
  buildId: string;
}

export const isSameVersion = (a: WorkerVersion | null, b: WorkerVersion | null): boolean =>
  a?.deploymentName === b?.deploymentName && a?.buildId === b?.buildId;

/** Temporal's own form, such as `belay:2027-01-a`. */
export const versionText = ({ deploymentName, buildId }: WorkerVersion): string => `${deploymentName}:${buildId}`;

/** @returns null for any other text */
export function parseVersion(text: string): WorkerVersion | null {
  const [deploymentName = '', ...rest] = text.split(':');
  return rest.length === 0 ? null : { deploymentName, buildId: rest.join(':') };
}

/** Returns the command that makes a build take new runs. */
export const makeCurrent = ({ deploymentName, buildId }: WorkerVersion): string =>
  `temporal worker deployment set-current-version --deployment-name ${deploymentName} --build-id ${buildId}`;

/** Returns the command that moves the runs of another build to the current one. */
export const moveRuns = (from: WorkerVersion): string =>
  `temporal workflow update-options --query 'TemporalWorkerDeploymentVersion="${versionText(from)}" ` +
  `AND ExecutionStatus="Running"' --versioning-override-behavior auto_upgrade`;

/* A worker reports its policy as the identity of a poll that takes no work, because Temporal lists pollers. Pure. */

export interface PolicyNotice {
  /** The hash of the policy in force. */
  hash: string;
  /** False if the file has changed since, but cannot be used. */
  isLatest: boolean;
  /** The identity of the worker. */
  worker: string;
}

/** Nothing is ever scheduled on this queue. */
export const policyQueue = (taskQueue: string): string => `belay-policy:${taskQueue}`;

export const policyNoticeText = ({ hash, isLatest, worker }: PolicyNotice): string =>
  `policy ${hash}${isLatest ? '' : ' outdated'} of ${worker}`;

/** @returns null for any other text */
export function parsePolicyNotice(text: string): PolicyNotice | null {
  const [, hash, outdated, worker] = /^policy (\S+)( outdated)? of (.+)$/.exec(text) ?? [];
  return hash === undefined || worker === undefined ? null : { hash, isLatest: outdated === undefined, worker };
}
