/** Controls the sandbox: scripts, faults, other users, webhooks. */
import type { SandboxDeliveries, Delivery } from './deliveries.ts';
import type { DeliveryFault } from './delivery-faults.ts';
import { alertFired, deleted, type Announcer } from './announce.ts';
import type { Answers, JournalEntry, State } from './state.ts';
import type { Fault } from './faults.ts';
import { kindOn, type Resource, type ScriptPart } from './script.ts';
import type { Subscription } from './subscriptions.ts';

type ResourceRef = { site: string } | { app: string } | { server: string };

interface Alert {
  server: string;
  message: string;
}

export interface Controls {
  readonly journal: readonly JournalEntry[];
  /** Sets one script for each of the next operations on a target. The last script stays for all later operations. */
  script(target: ResourceRef, ...scripts: ScriptPart[]): void;
  /** From now on, answers about this site or app have these ids, and come from these replicas. */
  answer(target: ResourceRef, how: Answers): void;
  /** Another party acts: a push deploys the site or app, or another user backs up the server. */
  act(target: ResourceRef): void;
  /** Ends the latest operation on the target now, with this status word. @throws NothingBegun */
  finish(target: ResourceRef, word: string): void;
  /** Another user deletes the target. */
  remove(target: ResourceRef): void;
  /** Queues faults for the next requests, in this order. */
  fault(...faults: Fault[]): void;
  /** From now on, the sandbox accepts only this token. */
  setToken(token: string): void;
  /** Answers 429 above this many requests per second; null removes the limit. */
  limit(perSecond: number | null): void;
  readonly deliveries: readonly Delivery[];
  /** Sends webhooks about all later events to this endpoint. */
  subscribe(subscription: Subscription): void;
  /** Queues faults for the next deliveries, in this order. */
  faultDeliveries(...faults: DeliveryFault[]): void;
  /** Fires an alert about a server. */
  alert(alert: Alert): void;
}

export class NothingBegun extends Error {}

export function createControls(state: State, announcer: Announcer, deliveries: SandboxDeliveries): Controls {
  return {
    journal: state.journal,
    deliveries: deliveries.list,
    script(target, ...scripts) {
      state.script(resourceOf(target), scripts);
    },
    answer: (target, how) => state.answer(resourceOf(target), how),
    act: (target) => actFromOutside(state, resourceOf(target)),
    finish(target, word) {
      const on = resourceOf(target);
      const operation = state.latest(on);
      if (operation === null)
        throw new NothingBegun(`no ${kindOn(on)} of ${on.id} was started: there is nothing to finish`);
      operation.script = { ...operation.script, durationMs: 0, ends: word };
      announcer.changed(operation);
    },
    remove(target) {
      const on = resourceOf(target);
      state.remove(on);
      state.note({ by: 'outside', request: `another user deletes ${on.type} ${on.id}` });
      deliveries.send(deleted(on));
    },
    fault: (...faults) => state.faults.add(...faults),
    setToken: (token) => void (state.token = token),
    limit: (perSecond) => void (state.maxPerSecond = perSecond),
    subscribe: (subscription) => deliveries.subscribe(subscription),
    faultDeliveries: (...faults) => deliveries.faults.add(...faults),
    alert: ({ server, message }) => deliveries.send(alertFired(server, message)),
  };
}

function resourceOf(target: ResourceRef): Resource {
  if ('site' in target) return { type: 'site', id: target.site };
  return 'app' in target ? { type: 'app', id: target.app } : { type: 'server', id: target.server };
}

export function actFromOutside(state: State, resource: Resource): void {
  const { id, kind, on } = state.begin(resource, 'outside');
  const request = kind === 'backup' ? `another user backs up ${on.id}` : `a push deploys ${on.id}`;
  state.note({ by: 'outside', request, began: { id, kind, target: on.id } });
}
