/** Slots of the SDK under a condition of our own. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  CustomSlotSupplier,
  SlotInfo,
  SlotPermit,
  SlotReserveContext,
  ActivitySlotInfo,
  WorkflowSlotInfo,
} from '@temporalio/worker';

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

/* The slots for activities of a worker. While it rests, it asks Temporal for no activity. */

export interface PollingRest {
  /** Null while the worker does not rest. */
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
  // For what the worker scheduled itself: its reads show whether it can read again, and the rest asks only Temporal.
  return { ...slots, tryReserveSlot: () => rule.take() };
}

/* One slot, free whenever a run may begin. So the worker asks Temporal for the next run only then. */

interface Places {
  hasPlace: () => boolean;
  takePlace: () => boolean;
  waitMs: () => number;
}

export function admissionSlots(admission: Places, rest: PollingRest): CustomSlotSupplier<ActivitySlotInfo> {
  let isFree = true;
  const rule = {
    take() {
      // If it is free, there is a place: the gate has just looked, and the next look comes with the next release.
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
 * The slots for workflow tasks of a worker. A task from the common queue belongs to a run that is not in the cache of
 * this worker, and takes as long as the whole history of the run takes to replay. After a restart every task is of this
 * kind: with many at once, each is late for Temporal, which gives it out again.
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
