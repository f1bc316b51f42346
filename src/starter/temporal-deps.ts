/** What activities ask Temporal itself. */
import { Client, type ConnectionLike } from '@temporalio/client';
import type { ActivityDeps } from '../activities/index.ts';
import { serversOf, sharedBackup } from './backup-records.ts';
import { completedBackup } from './completed-backup.ts';
import { createHolder } from './holding.ts';
import { holderOf } from './holder.ts';
import { createWaker } from './waking.ts';

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
