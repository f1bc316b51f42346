/** The POSTs that were refused to this worker with 401 or 403. Another worker may have a valid token. */
import { TIMING } from '../contract/timing.ts';

export interface RefusedPosts {
  add(idempotencyKey: string): void;
  /** Whether another worker should make this POST: it was refused here, and this is not the only worker. */
  isForOthers(idempotencyKey: string): Promise<boolean>;
}

/** @param hasColleagues whether other workers poll the task queue */
export function createRefusedPosts(hasColleagues: () => Promise<boolean>): RefusedPosts {
  const keys = new Set<string>();
  return {
    add(key) {
      keys.add(key);
      setTimeout(() => keys.delete(key), TIMING.poll.unauthorizedPatienceMs).unref();
    },
    isForOthers: async (key) => keys.has(key) && (await hasColleagues().catch(() => false)),
  };
}
