/** Slots of the SDK under a condition of our own. */
import { once } from 'node:events';
import type { CustomSlotSupplier, SlotInfo, SlotPermit, SlotReserveContext } from '@temporalio/worker';

interface SlotRule<Permit extends SlotPermit> {
  /** @returns null if no slot is free for it */
  take(context: Pick<SlotReserveContext, 'isSticky'>): Permit | null;
  release(permit: Permit): void;
}

/** While it is closed, no slot is free. */
interface Gate {
  isOpen(): boolean;
  whenOpen(ended: AbortSignal): Promise<void>;
}

const OPEN: Gate = { isOpen: () => true, whenOpen: () => Promise.resolve() };

export function createSlots<Info extends SlotInfo, Permit extends SlotPermit>(
  rule: SlotRule<Permit>,
  gate = OPEN,
): CustomSlotSupplier<Info> {
  const waiting: (() => void)[] = [];
  return {
    type: 'custom',
    async reserveSlot(context, signal) {
      signal.throwIfAborted();
      const aborted = once(signal, 'abort').then(() => Promise.reject(signal.reason as Error));
      aborted.catch(() => undefined);
      for (;;) {
        await Promise.race([gate.whenOpen(signal), aborted]);
        if (!gate.isOpen()) continue;
        const permit = rule.take(context);
        if (permit !== null) return permit;
        await Promise.race([new Promise<void>((resolve) => waiting.push(resolve)), aborted]);
      }
    },
    tryReserveSlot: (context) => (gate.isOpen() ? rule.take(context) : null),
    markSlotUsed: () => undefined,
    releaseSlot({ permit }) {
      rule.release(permit as Permit);
      for (const wake of waiting.splice(0)) wake();
    },
  };
}
