/** What to do if there is no connection to Temporal, for people. */
import { usualProxies } from '../../config/environment/proxy-url.ts';

export const START_TEMPORAL = 'start `belay dev`, or set TEMPORAL_ADDRESS to the address of Temporal';
export const CHECK_CREDENTIALS = 'check the API key or the client certificate, and the namespace that they are for';
export const CHECK_NAMESPACE = 'check TEMPORAL_NAMESPACE, or the namespace of the profile or of connect()';

/** The end of a sentence, which is empty if the environment names no proxy. */
export function proxiesNotUsed(): string {
  const names = usualProxies();
  if (names.length === 0) return '';
  return `; Belay uses no proxy for Temporal, and ${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} set`;
}
