/** Webhook bodies of the sandbox, with made-up words: the service's own are not documented. Pure, except for the clock. */
import type { Resource } from './script.ts';
import type { Operation } from './state.ts';

/** The body of a webhook. */
export interface SandboxEvent {
  type: string;
  /** When it happened, not when it was sent. */
  timestamp: string;
  data: Record<string, string>;
}

export const began = (operation: Operation): SandboxEvent =>
  event(`${operation.kind}.started`, dataOf(operation), operation.startedMs);

export const ended = (operation: Operation): SandboxEvent =>
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
const dataOf = ({ kind, on, id }: Operation) => ({
  ...nameOf(on),
  ...(kind === 'backup' && { backup_id: id }),
});

const nameOf = ({ type, id }: Resource): SandboxEvent['data'] => ({ [`${type}_id`]: id });
