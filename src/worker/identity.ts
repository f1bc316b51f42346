import { hostname } from 'node:os';
import { identityText } from '../contract/worker-identity.ts';
import { VERSION } from '../process/version.ts';

let lastMs = 0;

/** @returns an identity that no other worker has, not even one of this process */
export function newIdentity(service: string, epoch: string, encrypts = false): string {
  // Workers of one process differ in their start alone.
  lastMs = Math.max(Date.now(), lastMs + 1);
  return identityText({
    version: VERSION,
    where: `${hostname()}:${process.pid}`,
    service,
    since: new Date(lastMs).toISOString(),
    epoch,
    encrypts,
  });
}
