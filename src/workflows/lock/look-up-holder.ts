/** Which run holds a lock, for whoever looks at one that waits. It may have changed since: nothing rests on it. */
import { proxyLocalActivities } from '@temporalio/workflow';
import type { Activities } from '../../activities/index.ts';

/** A waiter asks for its lock every fifteen seconds, for hours: this is asked less often. */
const ASK_AGAIN_MS = 60_000;

const quick = proxyLocalActivities<Activities>({ startToCloseTimeout: '2 seconds', retry: { maximumAttempts: 1 } });

export function createHolderLookup() {
  let latest = { lockId: '', atMs: -Infinity, heldBy: null as string | null };
  return {
    known: (lockId: string): string | null => (latest.lockId === lockId ? latest.heldBy : null),
    lookUp(lockId: string, tell: (heldBy: string) => void): void {
      if (latest.lockId === lockId && Date.now() - latest.atMs < ASK_AGAIN_MS) return;
      latest = { lockId, atMs: Date.now(), heldBy: null };
      void quick.findHolder({ lockId }).then(
        (heldBy) => {
          if (latest.lockId !== lockId || heldBy === null) return;
          latest.heldBy = heldBy;
          tell(heldBy);
        },
        () => undefined,
      );
    },
  };
}
