/** Lets a worker rest after its own access to the service failed, and ends the rest with the first answered probe. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Rest } from '../activities/worker-rest.ts';
import { TIMING } from '../contract/timing.ts';
import type { Logger } from '../process/log.ts';

export interface WorkerRest extends Rest {
  /** Resolves when the worker does not rest. */
  whenOver(): Promise<void>;
}

interface CurrentRest {
  reason: string;
  firstProbe: Promise<boolean>;
  over: Promise<void>;
}

/** @param probe makes a read. @returns whether the service answered it and accepted the token */
export function createRest(probe: () => Promise<boolean>, log: Logger, ended: AbortSignal): WorkerRest {
  let current: CurrentRest | null = null;

  async function rest(firstProbe: Promise<boolean>, reason: string): Promise<void> {
    if (!(await firstProbe)) {
      log.warn(`this worker takes no activities until the service answers it: ${reason}`);
      do await sleep(TIMING.rest.probePauseMs, undefined, { signal: ended });
      while (!(await probe()));
      log.info('this worker takes activities again');
    }
    current = null;
  }

  return {
    get reason() {
      return current?.reason ?? null;
    },
    begin(reason) {
      if (current !== null || ended.aborted) return;
      const firstProbe = probe();
      const over = rest(firstProbe, reason);
      for (const promise of [firstProbe, over]) promise.catch(() => undefined);
      current = { reason, firstProbe, over };
    },
    async isOver() {
      return current === null || (await current.firstProbe.catch(() => false));
    },
    async whenOver() {
      await current?.over;
    },
  };
}
