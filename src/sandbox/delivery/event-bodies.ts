/** What happens at the sandbox, in words of its own: those of the service are not shown. Pure but for the clock. */
import type { Kind } from '../hosting/script.ts';
import type { Operation } from '../hosting/state.ts';

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

export const deleted = (kind: Kind, target: string): SandboxEvent => event('resource.deleted', nameOf(kind, target));

export const alertFired = (server: string, message: string): SandboxEvent =>
  event('alert.fired', { server_id: server, message });

const event = (type: string, data: SandboxEvent['data'], atMs = Date.now()): SandboxEvent => ({
  type,
  timestamp: new Date(atMs).toISOString(),
  data,
});

/** A deployment has no id: the interface shows none either. */
const dataOf = ({ kind, target, id }: Operation) => ({
  ...nameOf(kind, target),
  ...(kind === 'backup' && { backup_id: id }),
});

const nameOf = (kind: Kind, target: string): SandboxEvent['data'] =>
  kind === 'backup' ? { server_id: target } : { site_id: target };
