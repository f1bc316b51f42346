/** Which of its locks are held now, and by whom. */
import { backupServerId, lockIdOf } from '../contract/ids.ts';
import { planRun } from '../request/run-plan.ts';
import type { Part } from './planned.ts';

export const locksPart: Part = {
  name: 'locks',
  async look({ runs, options }, { belay }) {
    const ids = runs.flatMap(({ serverId, targets }) => [
      ...(serverId === undefined ? [] : [backupServerId(serverId)]),
      ...targets.map(lockIdOf),
    ]);
    const held = await belay.heldLocks(ids);
    const { ifBusy } = planRun(options);
    return {
      value: { held, ifBusy },
      lines: [
        ...(held.length === 0 ? ['locks: none is held'] : []),
        ...held.map(({ lockId, lockedBy }) => `locks: ${lockId} is held by ${lockedBy ?? 'an unknown run'}`),
      ],
    };
  },
};
