/** Ids that separate repeated deliveries from new ones. Pure. */
import { createHash } from 'node:crypto';
import { TIMING } from '../contract/timing.ts';

/** Ids for a delivery without one: an equal body within ten minutes is a repeat, a later one is new. */
export interface HashedId {
  id: string;
  /** The id in the previous window: if accepted less than ten minutes ago, it is the same delivery. */
  before: string;
}

export function hashedId(body: Buffer, receivedMs: number): HashedId {
  const hash = createHash('sha256').update(body).digest('hex');
  const window = Math.floor(receivedMs / TIMING.webhooks.duplicateWindowMs);
  return { id: `sha256-${hash}-${window}`, before: `sha256-${hash}-${window - 1}` };
}

/** Whether a delivery received now repeats one accepted at `acceptedMs`. */
export const isRepeatOf = (acceptedMs: number, receivedMs: number): boolean =>
  receivedMs - acceptedMs < TIMING.webhooks.duplicateWindowMs;

/** Whether a sender's id can be part of a workflow id. */
export const isUsableId = (id: string): boolean => /^[\x21-\x7e]{1,256}$/.test(id);
