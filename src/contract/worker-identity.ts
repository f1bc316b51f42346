/** A worker's name in Temporal's lists: its version, host, process, service, start time, encryption and epoch. Pure. */
import { definedFields } from './plain-object.ts';

export interface WorkerIdentity {
  version: string;
  /** `host:pid` */
  where: string;
  /** The identity of the service. */
  service: string;
  /** ISO 8601. */
  since: string;
  /** Absent in older versions. */
  epoch?: string;
  /** Whether it encrypts what it gives to Temporal. */
  encrypts?: boolean;
}

export function identityText({ version, where, service, since, epoch, encrypts = false }: WorkerIdentity): string {
  const encrypting = encrypts ? ' encrypting' : '';
  const inEpoch = epoch === undefined ? '' : ` in epoch ${epoch}`;
  return `belay/${version} ${where} for ${service} since ${since}${encrypting}${inEpoch}`;
}

/** @returns null for the identity of a worker that is not one of ours */
export function parseIdentity(identity: string): WorkerIdentity | null {
  const match = /^belay\/(\S+) (\S+) for (.+) since (\S+)( encrypting)?(?: in epoch (.+))?$/.exec(identity);
  if (match === null) return null;
  const [, version = '', where = '', service = '', since = '', encrypting, epoch] = match;
  const encrypts = encrypting === undefined ? {} : { encrypts: true };
  return { version, where, service, since, ...definedFields({ epoch }), ...encrypts };
}

/** The epoch of these workers, if they agree. */
export function epochOf(identities: readonly string[]): { epoch?: string } {
  const [epoch, ...others] = new Set(identities.map((identity) => parseIdentity(identity)?.epoch));
  return others.length > 0 ? {} : definedFields({ epoch });
}
