/** Looks a host up once, judges every address, and lets a connection be made to those judged only. */
import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { promisify } from 'node:util';
import { refusalOf } from './addresses.ts';
import { NoAnswer } from './errors.ts';

export type Resolve = (host: string) => Promise<LookupAddress[]>;

const lookUp = promisify(systemLookup);

export const systemResolve: Resolve = (host) => lookUp(host, { all: true, verbatim: true });

/** @throws NoAnswer if the host is unknown, or if one of its addresses must not be reached */
export async function judgedAddresses(
  { hostname }: URL,
  isPrivateSite: boolean,
  resolve: Resolve,
): Promise<LookupAddress[]> {
  // A URL has IPv6 addresses in brackets.
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const family = isIP(host);
  const found = family === 0 ? await resolved(host, resolve) : [{ address: host, family }];
  for (const { address } of found) {
    const refusal = refusalOf(address, isPrivateSite);
    if (refusal !== null) throw new NoAnswer(`not asked: ${refusal}`);
  }
  return found;
}

async function resolved(host: string, resolve: Resolve): Promise<LookupAddress[]> {
  const found = await resolve(host).catch((error: NodeJS.ErrnoException) => {
    throw new NoAnswer(`the name ${host} cannot be looked up (${error.code ?? 'unknown error'})`);
  });
  if (found.length === 0) throw new NoAnswer(`the name ${host} has no address`);
  return found;
}

/** For a connection: a second look-up could give other addresses than those that were judged. */
export function fixedLookup(judged: readonly LookupAddress[]): LookupFunction {
  const [first] = judged;
  return (_host, options, callback) => {
    if (options.all === true) callback(null, [...judged]);
    else callback(null, first!.address, first!.family);
  };
}
