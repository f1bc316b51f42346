/** What a delivery is known by, so that a repeated one is told from a new one. Pure. */
import { createHash } from 'node:crypto';

const WINDOW_MS = 10 * 60_000;

/** Ids for a delivery without one: a repeat within ten minutes is the same, a later equal body is another. */
export interface HashedId {
  id: string;
  /** That of the window before: taken less than ten minutes ago, it stands for this delivery, too. */
  before: string;
}

export function hashedId(body: Buffer, receivedMs: number): HashedId {
  const hash = createHash('sha256').update(body).digest('hex');
  const window = Math.floor(receivedMs / WINDOW_MS);
  return { id: `sha256-${hash}-${window}`, before: `sha256-${hash}-${window - 1}` };
}

/** Whether a delivery that was taken then is repeated by one that is received now. */
export const isRepeatOf = (takenMs: number, receivedMs: number): boolean => receivedMs - takenMs < WINDOW_MS;

/** Whether a sender's id can be used. */
export const isUsableId = (id: string): boolean => /^[\x21-\x7e]{1,256}$/.test(id);
