/** How a worker is called in Temporal's lists: which version it is, where it runs, since when. */
import { hostname } from 'node:os';
import { VERSION } from '../process/version.ts';

export interface WorkerIdentity {
  version: string;
  where: string;
  since: string;
}

export function workerIdentity(): string {
  return `belay/${VERSION} ${hostname()}:${process.pid} since ${new Date().toISOString()}`;
}

/** Null for a worker that isn't one of ours. */
export function parseIdentity(identity: string): WorkerIdentity | null {
  const match = /^belay\/(\S+) (\S+) since (\S+)$/.exec(identity);
  if (match === null) return null;
  const [, version = '', where = '', since = ''] = match;
  return { version, where, since };
}
