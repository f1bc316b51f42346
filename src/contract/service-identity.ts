/**
 * Which service something is for: scheme, host, port and path of its URL, plus `#account` where one URL serves several
 * accounts. Whatever passes from one run to another compares it, because ids such as `12` exist at every service. Pure.
 */

export interface ServedService {
  service: string;
  /** Identities that the same service had before it moved. */
  formerly: readonly string[];
}

/** @param baseUrl without a slash at the end */
export function serviceIdentity(baseUrl: string, account: string | null): string {
  return account === null ? baseUrl : `${baseUrl}#${account}`;
}

/** For the address of a service in belay.yaml, which may name its account itself. */
export function withAccount(identity: string, account: string | null): string {
  return identity.includes('#') ? identity : serviceIdentity(identity, account);
}

/** Whether a message about a service concerns a run of this one. Older messages name none. */
export function concernsService(identities: unknown, served: ServedService): boolean {
  return !Array.isArray(identities) || identities.some((identity) => isServed(identity as string, served));
}

/** Every identity that the service has or had. */
export const identitiesOf = ({ service, formerly }: ServedService): string[] => [service, ...formerly];

export function isServed(recorded: string, { service, formerly }: ServedService): boolean {
  return recorded === service || formerly.includes(recorded);
}
