/** A model of src/worker/probe-service.ts: a worker that cannot reach the service takes no activities until a probe succeeds. */
import type { ActivityDeps } from '../../../src/activities/deps.ts';
import { TIMING } from '../../../src/contract/timing.ts';
import type { WorkerParts } from './parts.ts';

export function createRest({ process, service, token }: WorkerParts): ActivityDeps['rest'] {
  let current: { reason: string; isOver: Promise<boolean> } | null = null;

  async function probe(): Promise<boolean> {
    await process.sleep(20);
    return service.isUp && token() === service.state.token;
  }

  async function probeUntilOver(first: Promise<boolean>): Promise<void> {
    for (let isOver = await first; !isOver; isOver = await probe()) await process.sleep(TIMING.rest.probePauseMs);
    current = null;
  }

  return {
    get reason() {
      return current?.reason ?? null;
    },
    begin(reason) {
      if (current !== null) return;
      const isOver = probe();
      current = { reason, isOver };
      void probeUntilOver(isOver);
    },
    isOver: async () => current === null || current.isOver,
  };
}
