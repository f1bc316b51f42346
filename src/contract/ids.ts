/** Builds workflow ids. They never change, because locks, scripts and searches in the UI depend on them. Pure. */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { FreezeScope } from '../features/freezes/shapes.ts';
import type { RunWork } from '../features/superseding/shapes.ts';
import type { RunInput } from './run.ts';
import type { RunType } from './names.ts';
import { siteTarget, targetsOf, type Target } from './target.ts';

export const MAX_WORKFLOW_ID_BYTES = 200;

/** The lock of a server. It is also the id of the operation, so Belay runs at most one backup per server. */
export const backupServerId = (serverId: string): string => workflowId('backup-server', serverId);

/** The lock of a target. It is also the id of the operation, so Belay runs at most one deployment per target. */
export const lockIdOf = ({ kind, id }: Target): string => workflowId(`deploy-${kind}`, id);

export const operationIdOf = (operation: { target: Target } | { serverId: string }): string =>
  'target' in operation ? lockIdOf(operation.target) : backupServerId(operation.serverId);

export const deploySiteId = (siteId: string): string => lockIdOf(siteTarget(siteId));

type RunSubjects = Pick<RunInput, 'serverId' | 'siteIds' | 'targets'>;

/** @throws TypeError if the input lacks the server or target that the id needs */
export function runWorkflowId(type: RunType, input: RunSubjects, key: string): string {
  const [server, target] = [input.serverId, targetsOf(input)[0]];
  if (type === 'backupThenDeploy' && server !== undefined) return workflowId('backup-then-deploy', server, key);
  if (type === 'backupOnly' && server !== undefined) return workflowId('backup', server, key);
  if (type === 'deployOnly' && target !== undefined) return workflowId('deploy', ...idParts(target), key);
  if (type === 'watchDeployment' && target !== undefined) return workflowId('watch', ...idParts(target), key);
  throw new TypeError(`${type} needs ${type.startsWith('backup') ? 'a server' : 'a target'}`);
}

/** @param id of a run @returns the server that it names, or null if it names none, or not the whole of it */
export function serverOfRun(id: string): string | null {
  const [, encoded] = /^(?:backup-then-deploy|backup):([^:]+):[^:]+$/.exec(id) ?? [];
  if (encoded === undefined || looksShortened(id)) return null;
  try {
    return decodeURIComponent(encoded);
  } catch {
    // The Temporal UI can start a run under any id.
    return null;
  }
}

const idParts = ({ kind, id }: Target): string[] => (kind === 'app' ? ['app', id] : [id]);

/** Each delivery has its own workflow. A duplicate delivery finds its id taken. */
export const eventId = (source: string, deliveryId: string): string => workflowId('event', source, deliveryId);

/** The record maps a backup made by Belay to its server. */
export const backupRecordId = (backupId: string): string => workflowId('backup-record', backupId);

/** The record maps a backup made elsewhere to the server of the run that uses it. */
export const adoptedBackupId = (backupId: string): string => workflowId('adopted-backup', backupId);

/** The record says that a backup failed according to an event. */
export const failedBackupId = (backupId: string): string => workflowId('failed-backup', backupId);

/** The record names the newest backup of a server that was started elsewhere. */
export const sharedBackupId = (serverId: string): string => workflowId('shared-backup', serverId);

/** @param pauses how many times the rollout has paused, including this time */
export const rolloutPauseId = (rollout: string, firstRunId: string, pauses: number): string =>
  workflowId('rollout-paused', rollout, firstRunId, String(pauses));

/** @param firstRunId of the execution. A reset keeps it, so no notification is sent twice. */
export const runEndId = (runWorkflowId: string, firstRunId: string): string =>
  workflowId('run-end', runWorkflowId, firstRunId);

/**
 * @param count the number of questions so far, including this one
 * @param about what the notification says about the question
 */
export const approvalNoticeId = (runWorkflowId: string, firstRunId: string, count: number, about: string): string =>
  workflowId('approval', runWorkflowId, firstRunId, String(count), about);

export const reportId = (runWorkflowId: string, firstRunId: string): string =>
  workflowId('report', runWorkflowId, firstRunId);

export const rolloutId = (name: string, key: string): string => workflowId('rollout', name, key);
export const ROLLOUT_PREFIX = 'rollout:';

export const scheduleId = (fleet: string, schedule: string): string => `${SCHEDULE_PREFIX}${fleet}:${schedule}`;
export const SCHEDULE_PREFIX = 'belay:';

/** Temporal appends the time of each firing. */
export const scheduledId = (fleet: string, schedule: string): string => workflowId('scheduled', fleet, schedule);

const FREEZE_PREFIX = 'freeze:';

/** Whether the name of a freeze is the id of one that a person set. Names in belay.yaml have no colon. */
export const isFreezeId = (name: string): boolean => name.startsWith(FREEZE_PREFIX);

/** A scope has at most one ad-hoc freeze. The running workflow with this id is the freeze. */
export const freezeId = (scope: FreezeScope): string =>
  scope.kind === 'all' ? workflowId('freeze', scope.kind) : workflowId('freeze', scope.kind, scope.id);

/** Returns prefixes of the ids of runs that may themselves wait for this server or site, without an operation. */
export function waitingRunPrefixes({ serverId, siteId }: { serverId: string | null; siteId: string | null }): string[] {
  const kinds = [
    ...(serverId === null ? [] : [`backup-then-deploy:${encodeURIComponent(serverId)}:`]),
    ...(serverId === null ? [] : [`backup:${encodeURIComponent(serverId)}:`]),
    ...(siteId === null ? [] : [`watch:${encodeURIComponent(siteId)}:`]),
  ];
  return kinds.map(shortenedPrefix);
}

/** A shortened id keeps only this much of its start. */
const shortenedPrefix = (prefix: string): string => prefix.slice(0, MAX_WORKFLOW_ID_BYTES - HASH_BYTES);

/** Returns prefixes of the ids of runs that a newer run may cover. An id names its server, or its first target. */
export function coveredRunPrefixes({ serverId, targets }: Pick<RunWork, 'serverId' | 'targets'>): string[] {
  const parts =
    serverId === null ? targets.map((it) => ['deploy', ...idParts(it)]) : [['backup-then-deploy', serverId]];
  return parts.map((it) => shortenedPrefix(`${it.map(encodeURIComponent).join(':')}:`));
}

/** The length of a colon and a SHA-256. */
const HASH_BYTES = 65;
const looksShortened = (id: string): boolean => id.length === MAX_WORKFLOW_ID_BYTES && /:[0-9a-f]{64}$/.test(id);

function workflowId(kind: string, ...parts: string[]): string {
  const id = [kind, ...parts.map(encodeURIComponent)].join(':');
  // An id that looks shortened is shortened as well, so that two inputs never share an id.
  if (id.length <= MAX_WORKFLOW_ID_BYTES && !looksShortened(id)) return id;
  const hash = bytesToHex(sha256(utf8ToBytes(id)));
  return `${id.slice(0, MAX_WORKFLOW_ID_BYTES - HASH_BYTES)}:${hash}`;
}
