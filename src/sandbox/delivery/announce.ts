/** Tells that operations began, and that they ended: when it is so, and once, whatever is made of them later. */
import { began, ended, type SandboxEvent } from './event-bodies.ts';
import type { Lifetime } from './lifetime.ts';
import type { Operation } from '../hosting/state.ts';

export interface Telling {
  begun(operation: Operation): void;
  /** To be called when its script was changed; with `ends: 'never'` nothing is told. */
  changed(operation: Operation): void;
}

export function createTelling(lifetime: Lifetime, tell: (event: SandboxEvent) => void): Telling {
  const told = new WeakSet<Operation>();

  async function tellEnd(operation: Operation): Promise<void> {
    await lifetime.until(operation.startedMs + operation.script.durationMs);
    if (told.has(operation) || operation.script.ends === 'never') return;
    told.add(operation);
    tell(ended(operation));
  }

  return {
    begun(operation) {
      tell(began(operation));
      void tellEnd(operation);
    },
    changed: (operation) => void tellEnd(operation),
  };
}
