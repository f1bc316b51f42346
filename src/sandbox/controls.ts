/** What can be done to the sandbox besides asking it: scripts, faults, outside actors, webhooks. */
import type { Deliveries, Delivery } from './delivery/deliveries.ts';
import type { DeliveryFault } from './delivery/delivery-faults.ts';
import { alertFired, deleted } from './delivery/event-bodies.ts';
import type { Fault } from './hosting/faults.ts';
import type { Kind, ScriptPart } from './hosting/script.ts';
import type { JournalEntry, State } from './hosting/state.ts';
import type { Subscription } from './delivery/subscriptions.ts';
import type { Telling } from './delivery/announce.ts';

export type Target = { site: string } | { server: string };

export interface Alert {
  server: string;
  message: string;
}

export interface Controls {
  readonly journal: readonly JournalEntry[];
  /** Sets how the next operations on a target go, one script each; the last one stays. */
  script(target: Target, ...scripts: ScriptPart[]): void;
  /** Somebody else acts: a push deploys the site, or another user backs the server up. */
  act(target: Target): void;
  /** Ends the latest operation on it now, with this word. @throws NothingBegun */
  finish(target: Target, word: string): void;
  /** Somebody deletes it. */
  remove(target: Target): void;
  /** Lets the next requests go wrong, in this order. */
  fault(...faults: Fault[]): void;
  /** Accepts this token from now on, and no other. */
  setToken(token: string): void;
  /** Answers 429 beyond so many requests a second; null: never. */
  limit(perSecond: number | null): void;
  readonly deliveries: readonly Delivery[];
  /** Tells this endpoint, by webhooks, what happens from now on. */
  subscribe(subscription: Subscription): void;
  /** Lets the next deliveries go wrong, in this order. */
  faultDeliveries(...faults: DeliveryFault[]): void;
  /** An alert fires on a server. */
  alert(alert: Alert): void;
}

export class NothingBegun extends Error {}

export function createControls(state: State, telling: Telling, deliveries: Deliveries): Controls {
  return {
    journal: state.journal,
    deliveries: deliveries.list,
    script(target, ...scripts) {
      const [kind, id] = operationOn(target);
      state.script(kind, id, scripts);
    },
    act(target) {
      const { id, kind, target: name } = state.begin(...operationOn(target), 'outside');
      const request = kind === 'backup' ? `somebody backs up ${name}` : `a push deploys ${name}`;
      state.note({ by: 'outside', request, began: { id, kind, target: name } });
    },
    finish(target, word) {
      const [kind, name] = operationOn(target);
      const operation = state.latest(kind, name);
      if (operation === null) throw new NothingBegun(`no ${kind} of ${name} was begun: nothing can end`);
      operation.script = { ...operation.script, durationMs: 0, ends: word };
      telling.changed(operation);
    },
    remove(target) {
      const [kind, name] = operationOn(target);
      state.remove(kind, name);
      state.note({ by: 'outside', request: `somebody deletes ${kind === 'backup' ? 'server' : 'site'} ${name}` });
      deliveries.send(deleted(kind, name));
    },
    fault: (...faults) => state.faults.add(...faults),
    setToken: (token) => void (state.token = token),
    limit: (perSecond) => void (state.maxPerSecond = perSecond),
    subscribe: (subscription) => deliveries.subscribe(subscription),
    faultDeliveries: (...faults) => deliveries.faults.add(...faults),
    alert: ({ server, message }) => deliveries.send(alertFired(server, message)),
  };
}

function operationOn(target: Target): [Kind, string] {
  return 'site' in target ? ['deployment', target.site] : ['backup', target.server];
}
