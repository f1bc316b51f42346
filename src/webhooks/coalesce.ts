/**
 * Keeps a flood of events from starting many workflows. Of the events with one meaning, the first is handled at once,
 * and all others of the next two seconds are handled as one, after them. So whatever the last of them reports is read.
 */
import { LRUCache } from 'lru-cache';
import type { EventStore } from '../features/events/client-store.ts';
import type { EventInput } from '../features/events/shapes.ts';
import { TIMING } from '../contract/timing.ts';
import { eventId } from '../contract/ids.ts';

export interface Accepted {
  /** Workflow id of the event, or of the event that stands for it. */
  id: string;
  isNew: boolean;
  /** True if another event stands for this one. */
  isCoalesced: boolean;
}

interface Handling {
  deliveryId: string;
  startsMs: number;
  isNew: Promise<boolean>;
}

const MAX_REMEMBERED = 10_000;
const FRESH_ALIKE_MS = 60_000;

export function createCoalescing(
  store: Pick<EventStore, 'accept' | 'acceptedAtMs'>,
  clock: () => number = () => performance.now(),
) {
  const latest = new Map<string, Handling>();
  /**
   * The delivery whose event stands for each one, by the id of its event. It is only in memory, so a repeat of a
   * coalesced delivery counts as new after a restart.
   */
  const remembered = new LRUCache<string, string>({ max: MAX_REMEMBERED });

  const startAt = async (startsMs: number, key: string, event: EventInput): Promise<Accepted> => {
    const delayMs = Math.max(0, startsMs - clock());
    const { source, deliveryId } = event;
    const handling = { deliveryId, startsMs, isNew: store.accept(event, Math.ceil(delayMs)) };
    latest.set(key, handling);
    const forget = () => void (latest.get(key) === handling && latest.delete(key));
    setTimeout(forget, delayMs + TIMING.webhooks.coalesceMs).unref();
    const isNew = await handling.isNew.catch((error: unknown) => {
      forget();
      throw error;
    });
    // A repeat is not handled again, so it must not stand for other events.
    const id = eventId(source, deliveryId);
    if (isNew) remembered.set(id, deliveryId);
    else forget();
    return { id, isNew, isCoalesced: false };
  };

  /** @throws the error of the store, if the event may not have been stored */
  async function accept(event: EventInput): Promise<Accepted> {
    const { source, deliveryId } = event;
    const id = eventId(source, deliveryId);
    const key = meaningOf(event);
    if (key === null) return { id, isNew: await store.accept(event), isCoalesced: false };
    const standing = remembered.peek(id);
    if (standing !== undefined)
      return { id: eventId(source, standing), isNew: false, isCoalesced: standing !== deliveryId };
    const nowMs = clock();
    const last = latest.get(key);
    const nextMs = last === undefined ? nowMs : Math.max(nowMs, last.startsMs + TIMING.webhooks.coalesceMs);
    if (last === undefined || last.startsMs <= nowMs || last.deliveryId === deliveryId)
      return startAt(nextMs, key, event);
    if (!(await last.isNew)) return accept(event);
    remembered.set(id, last.deliveryId);
    return { id: eventId(source, last.deliveryId), isNew: true, isCoalesced: true };
  }

  return {
    accept,
    /** When the delivery was accepted, or the one that stands for it. Null if it never was. */
    acceptedAtMs: (source: string, deliveryId: string) =>
      store.acceptedAtMs(source, remembered.peek(eventId(source, deliveryId)) ?? deliveryId),
  };
}

/**
 * An event that is fresh for a shorter time may be too late when it is handled, and must not stand for one that is not.
 * Null for an event that names nothing, because then only its body shows what it means.
 */
function meaningOf({ source, verified, freshForMs, event }: EventInput): string | null {
  const { kind, rawKind, serverId, siteId, backupId } = event;
  if (serverId === null && siteId === null && backupId === null) return null;
  return JSON.stringify([
    source,
    verified,
    Math.floor(freshForMs / FRESH_ALIKE_MS),
    kind,
    rawKind,
    serverId,
    siteId,
    backupId,
  ]);
}
