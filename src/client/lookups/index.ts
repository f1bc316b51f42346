/** What activities ask Temporal itself. */
import { Client, type ConnectionLike } from '@temporalio/client';
import type { ActivityDeps } from '../../activities/index.ts';
import { serversOf, sharedBackup } from './backup-records.ts';
import { completedBackup } from './find-completed-backup.ts';
import { createHolder } from './hold-server.ts';
import { holderOf } from './find-lock-holder.ts';
import { createWaker } from './wake-waiters.ts';

export function temporalDeps(temporal: {
  connection: ConnectionLike;
  namespace: string;
}): Pick<ActivityDeps, 'findBackup' | 'findHolder' | 'wake' | 'hold' | 'serversOf' | 'sharedBackup'> {
  const client = new Client(temporal);
  return {
    findBackup: (query) => completedBackup(client, query),
    findHolder: (lockId) => holderOf(client, lockId),
    wake: createWaker(client),
    hold: createHolder(client),
    serversOf: (backupId) => serversOf(client, backupId),
    sharedBackup: (serverId) => sharedBackup(client, serverId),
  };
}
