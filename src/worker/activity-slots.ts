/** The slots for activities of a worker. While it rests, it asks Temporal for no activity. */
import type { ActivitySlotInfo, CustomSlotSupplier } from '@temporalio/worker';
import { createSlots } from './slots.ts';

export interface Rest {
  /** Null while the worker does not rest. */
  readonly reason: string | null;
  whenOver(): Promise<void>;
}

export function activitySlots(count: number, rest: Rest): CustomSlotSupplier<ActivitySlotInfo> {
  let free = count;
  const rule = {
    take() {
      if (free === 0) return null;
      free -= 1;
      return {};
    },
    release: () => void (free += 1),
  };
  const slots = createSlots(rule, { isOpen: () => rest.reason === null, whenOpen: () => rest.whenOver() });
  // For what the worker scheduled itself: its reads show whether it can read again, and the rest asks only Temporal.
  return { ...slots, tryReserveSlot: () => rule.take() };
}
