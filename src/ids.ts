/** Workflow ids. They are permanent: locks, scripts and the UI's search depend on them. Pure. */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { RunInput, RunType } from './contract.ts';

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

const ENDS_IN_HASH = /:[0-9a-f]{64}$/;

function workflowId(kind: string, ...parts: string[]): string {
  const id = [kind, ...parts.map(encodeURIComponent)].join(':');
  // One that looks as if it had been shortened is shortened, too: two inputs never share an id.
  if (id.length <= MAX_WORKFLOW_ID_BYTES && !(id.length === MAX_WORKFLOW_ID_BYTES && ENDS_IN_HASH.test(id))) return id;
  const hash = bytesToHex(sha256(utf8ToBytes(id)));
  return `${id.slice(0, MAX_WORKFLOW_ID_BYTES - hash.length - 1)}:${hash}`;
}
