/** Workflow ids. They are permanent: locks, scripts and the UI's search depend on them. Pure. */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { RunInput, RunType } from '../run.ts';

export const MAX_WORKFLOW_ID_BYTES = 200;

/** The lock of a server: the id of the one backup of ours that may be in flight. */
export const backupServerId = (serverId: string): string => workflowId('backup-server', serverId);

/** The lock of a site: the id of the one deployment of ours that may be in flight. */
export const deploySiteId = (siteId: string): string => workflowId('deploy-site', siteId);

/** @throws TypeError where the input lacks what the run's type is named after */
export function runWorkflowId(type: RunType, input: Pick<RunInput, 'serverId' | 'siteIds'>, key: string): string {
  const [server, site] = [input.serverId, input.siteIds[0]];
  if (type === 'backupThenDeploy' && server !== undefined) return workflowId('backup-then-deploy', server, key);
  if (type === 'backupOnly' && server !== undefined) return workflowId('backup', server, key);
  if (type === 'deployOnly' && site !== undefined) return workflowId('deploy', site, key);
  if (type === 'watchDeployment' && site !== undefined) return workflowId('watch', site, key);
  throw new TypeError(`${type} needs ${type.startsWith('backup') ? 'a server' : 'a site'}`);
}

/** One workflow for each delivery: a repeated one finds its id taken. */
export const eventId = (source: string, deliveryId: string): string => workflowId('event', source, deliveryId);

/** Where it stands which server a backup is of. */
export const backupRecordId = (backupId: string): string => workflowId('backup-record', backupId);

/** Where it stands of which server a run takes a backup to be that it didn't make. */
export const restedBackupId = (backupId: string): string => workflowId('rested-backup', backupId);

/** Where it stands that a backup failed, as an event said. */
export const failedBackupId = (backupId: string): string => workflowId('failed-backup', backupId);

/** Where the newest backup stands that somebody else began. */
export const sharedBackupId = (serverId: string): string => workflowId('shared-backup', serverId);

/** @param pauses so many there were before and with this one */
export const rolloutPauseId = (rollout: string, firstRunId: string, pauses: number): string =>
  workflowId('rollout-paused', rollout, firstRunId, String(pauses));

/** @param firstRunId of the execution: a reset keeps it, and nobody is told twice */
export const runEndId = (runWorkflowId: string, firstRunId: string): string =>
  workflowId('run-end', runWorkflowId, firstRunId);

export const rolloutId = (name: string, key: string): string => workflowId('rollout', name, key);
export const ROLLOUT_PREFIX = 'rollout:';

export const scheduleId = (fleet: string, schedule: string): string => `${SCHEDULE_PREFIX}${fleet}:${schedule}`;
export const SCHEDULE_PREFIX = 'belay:';

/** Temporal adds the time of each firing. */
export const scheduledId = (fleet: string, schedule: string): string => workflowId('scheduled', fleet, schedule);

/** What the ids of runs begin with that may wait for something of this server or site by themselves. */
export function waitingRunPrefixes({ serverId, siteId }: { serverId: string | null; siteId: string | null }): string[] {
  const kinds = [
    ...(serverId === null ? [] : [`backup-then-deploy:${encodeURIComponent(serverId)}:`]),
    ...(serverId === null ? [] : [`backup:${encodeURIComponent(serverId)}:`]),
    ...(siteId === null ? [] : [`watch:${encodeURIComponent(siteId)}:`]),
  ];
  // Of a shortened id only so much is sure.
  return kinds.map((prefix) => prefix.slice(0, MAX_WORKFLOW_ID_BYTES - HASH_BYTES));
}

/** A colon and a SHA-256. */
const HASH_BYTES = 65;
const ENDS_IN_HASH = /:[0-9a-f]{64}$/;

function workflowId(kind: string, ...parts: string[]): string {
  const id = [kind, ...parts.map(encodeURIComponent)].join(':');
  // One that looks as if it had been shortened is shortened, too: two inputs never share an id.
  if (id.length <= MAX_WORKFLOW_ID_BYTES && !(id.length === MAX_WORKFLOW_ID_BYTES && ENDS_IN_HASH.test(id))) return id;
  const hash = bytesToHex(sha256(utf8ToBytes(id)));
  return `${id.slice(0, MAX_WORKFLOW_ID_BYTES - HASH_BYTES)}:${hash}`;
}
