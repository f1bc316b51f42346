/** Sends one event when an operation starts and one when it ends, even if its script changes later. */
import { began, ended, type SandboxEvent } from './event-bodies.ts';
import type { Lifetime } from './lifetime.ts';
import type { Operation } from './state.ts';

export interface Announcer {
  begun(operation: Operation): void;
  /** Call this after changing its script. With `ends: 'never'`, no end event is sent. */
  changed(operation: Operation): void;
}

export function createAnnouncer(lifetime: Lifetime, send: (event: SandboxEvent) => void): Announcer {
  const announced = new WeakSet<Operation>();

  async function announceEnd(operation: Operation): Promise<void> {
    await lifetime.until(operation.startedMs + operation.script.durationMs);
    if (announced.has(operation) || operation.script.ends === 'never') return;
    announced.add(operation);
    send(ended(operation));
  }

  return {
    begun(operation) {
      send(began(operation));
      void announceEnd(operation);
    },
    changed: (operation) => void announceEnd(operation),
  };
}
