/** Controls the sandbox: scripts, faults, other users, webhooks. */
import type { SandboxDeliveries, Delivery, Subscription } from './deliveries.ts';
import { alertFired, deleted, type Announcer } from './announce.ts';
import type { Answers, JournalEntry, State } from './state.ts';
import type { DeliveryFault, Fault } from './faults.ts';
import { kindOn, type Resource, type ScriptPart } from './script.ts';

type ResourceRef = { site: string } | { app: string } | { server: string };

export type Controls = ReturnType<typeof createControls>;

export class NothingBegun extends Error {}

export function createControls(state: State, announcer: Announcer, deliveries: SandboxDeliveries) {
  return {
    journal: state.journal as readonly JournalEntry[],
    deliveries: deliveries.list as readonly Delivery[],
    /** Sets one script for each of the next operations on a target. The last script stays for all later operations. */
    script(target: ResourceRef, ...scripts: ScriptPart[]) {
      state.script(resourceOf(target), scripts);
    },
    /** From now on, answers about this site or app have these ids, and come from these replicas. */
    answer: (target: ResourceRef, how: Answers) => state.answer(resourceOf(target), how),
    /** Another party acts: a push deploys the site or app, or another user backs up the server. */
    act: (target: ResourceRef) => actFromOutside(state, resourceOf(target)),
    /** Ends the latest operation on the target now, with this status word. @throws NothingBegun */
    finish(target: ResourceRef, word: string) {
      const on = resourceOf(target);
      const operation = state.latest(on);
      if (operation === null)
        throw new NothingBegun(`no ${kindOn(on)} of ${on.id} was started: there is nothing to finish`);
      operation.script = { ...operation.script, durationMs: 0, ends: word };
      announcer.changed(operation);
    },
    /** Another user deletes the target. */
    remove(target: ResourceRef) {
      const on = resourceOf(target);
      state.remove(on);
      state.note({ by: 'outside', request: `another user deletes ${on.type} ${on.id}` });
      deliveries.send(deleted(on));
    },
    /** Queues faults for the next requests, in this order. */
    fault: (...faults: Fault[]) => state.faults.add(...faults),
    /** From now on, the sandbox accepts only this token. */
    setToken: (token: string) => void (state.token = token),
    /** Answers 429 above this many requests per second; null removes the limit. */
    limit: (perSecond: number | null) => void (state.maxPerSecond = perSecond),
    /** Sends webhooks about all later events to this endpoint. */
    subscribe: (subscription: Subscription) => deliveries.subscribe(subscription),
    /** Queues faults for the next deliveries, in this order. */
    faultDeliveries: (...faults: DeliveryFault[]) => deliveries.faults.add(...faults),
    alert: ({ server, message }: { server: string; message: string }) => deliveries.send(alertFired(server, message)),
  };
}

function resourceOf(target: ResourceRef): Resource {
  if ('site' in target) return { type: 'site', id: target.site };
  return 'app' in target ? { type: 'app', id: target.app } : { type: 'server', id: target.server };
}

export function actFromOutside(state: State, resource: Resource): void {
  const began = state.begin(resource);
  const request = began.kind === 'backup' ? `another user backs up ${resource.id}` : `a push deploys ${resource.id}`;
  state.note({ by: 'outside', request, began });
}
