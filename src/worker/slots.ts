/** Slots of the SDK under our own conditions. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Admission } from './admission.ts';
import type {
  CustomSlotSupplier,
  SlotInfo,
  SlotPermit,
  SlotReserveContext,
  ActivitySlotInfo,
  WorkflowSlotInfo,
} from '@temporalio/worker';

interface SlotRule<Permit extends SlotPermit> {
  /** @returns null if no slot is free for the task */
  take(context: Pick<SlotReserveContext, 'isSticky'>): Permit | null;
  release(permit: Permit): void;
}

/** While the gate is closed, no slot is free. */
interface Gate {
  isOpen(): boolean;
  whenOpen(ended: AbortSignal): Promise<void>;
}

const OPEN: Gate = { isOpen: () => true, whenOpen: () => Promise.resolve() };

function createSlots<Info extends SlotInfo, Permit extends SlotPermit>(
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

/* The activity slots of a worker. While the worker rests, it asks Temporal for no activity. */

export interface PollingRest {
  readonly reason: string | null;
  whenOver(): Promise<void>;
}

export function activitySlots(count: number, rest: PollingRest): CustomSlotSupplier<ActivitySlotInfo> {
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
  // This is for activities that the worker scheduled itself: its reads show whether it can read again, and the rest
  // concerns only activities from Temporal.
  return { ...slots, tryReserveSlot: () => rule.take() };
}

/* One slot, which is free whenever a run may begin. So the worker asks Temporal for the next run only then. */

type Places = Pick<Admission, 'hasPlace' | 'takePlace' | 'waitMs'>;

export function admissionSlots(admission: Places, rest: PollingRest): CustomSlotSupplier<ActivitySlotInfo> {
  let isFree = true;
  const rule = {
    take() {
      // If the slot is free, there is a place: the gate has just looked, and looks again with the next release.
      if (!isFree || !admission.takePlace()) return null;
      isFree = false;
      return {};
    },
    release: () => void (isFree = true),
  };
  return createSlots(rule, {
    isOpen: () => rest.reason === null && admission.hasPlace(),
    async whenOpen(signal) {
      await rest.whenOver();
      await sleep(admission.waitMs(), undefined, { signal });
    },
  });
}

/*
 * The workflow task slots of a worker. A task from the common queue belongs to a run that is not in the cache of this
 * worker, and takes as long as a replay of the run's whole history. After a restart, every task is of this kind. With
 * many at once, each would be late for Temporal, which would then send it out again.
 */

/** @param uncached how many of all slots are for runs that are not in the cache */
export function workflowSlots(all: number, uncached: number): CustomSlotSupplier<WorkflowSlotInfo> {
  const free = { all, uncached };
  const use = (isSticky: boolean, count: number) => {
    free.all -= count;
    if (!isSticky) free.uncached -= count;
  };
  return createSlots({
    take({ isSticky }) {
      if (free.all === 0 || (!isSticky && free.uncached === 0)) return null;
      use(isSticky, 1);
      return { isSticky };
    },
    release: ({ isSticky }) => use(isSticky, -1),
  });
}
