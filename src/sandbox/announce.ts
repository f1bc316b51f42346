/** Sends one event when an operation starts and one when it ends, even if its script changes later. */
import type { Lifetime } from './lifetime.ts';
import type { SandboxOperation } from './state.ts';
import type { Resource } from './script.ts';

export type Announcer = ReturnType<typeof createAnnouncer>;

export function createAnnouncer(lifetime: Lifetime, send: (event: SandboxEvent) => void) {
  const announced = new WeakSet<SandboxOperation>();

  async function announceEnd(operation: SandboxOperation): Promise<void> {
    await lifetime.until(operation.startedMs + operation.script.durationMs);
    if (announced.has(operation) || operation.script.ends === 'never') return;
    announced.add(operation);
    send(ended(operation));
  }

  return {
    begun(operation: SandboxOperation) {
      send(began(operation));
      void announceEnd(operation);
    },
    /** Call this after changing its script. With `ends: 'never'`, no end event is sent. */
    changed: (operation: SandboxOperation): void => void announceEnd(operation),
  };
}

/*
 * Webhook bodies of the sandbox, with invented words, because the service does not document its own. Pure, except for
 * the clock.
 */

export interface SandboxEvent {
  type: string;
  /** When it happened, not when it was sent. */
  timestamp: string;
  data: Record<string, string>;
}

const began = (operation: SandboxOperation): SandboxEvent =>
  event(`${operation.kind}.started`, dataOf(operation), operation.startedMs);

const ended = (operation: SandboxOperation): SandboxEvent =>
  event(`${operation.kind}.${operation.script.ends}`, dataOf(operation));

export const deleted = (on: Resource): SandboxEvent => event('resource.deleted', nameOf(on));

export const alertFired = (server: string, message: string): SandboxEvent =>
  event('alert.fired', { server_id: server, message });

const event = (type: string, data: SandboxEvent['data'], atMs = Date.now()): SandboxEvent => ({
  type,
  timestamp: new Date(atMs).toISOString(),
  data,
});

/** Deployments carry no id, because the API has none for them. */
const dataOf = ({ kind, on, id }: SandboxOperation) => ({
  ...nameOf(on),
  ...(kind === 'backup' && { backup_id: id }),
});

const nameOf = ({ type, id }: Resource): SandboxEvent['data'] => ({ [`${type}_id`]: id });
