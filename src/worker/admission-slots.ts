/** One slot, free whenever a run may begin. So the worker asks Temporal for the next run only then. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ActivitySlotInfo, CustomSlotSupplier } from '@temporalio/worker';
import type { Rest } from './activity-slots.ts';
import { createSlots } from './slots.ts';

interface Places {
  hasPlace: () => boolean;
  takePlace: () => boolean;
  waitMs: () => number;
}

export function admissionSlots(admission: Places, rest: Rest): CustomSlotSupplier<ActivitySlotInfo> {
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
