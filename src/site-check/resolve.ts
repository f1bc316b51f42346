/** Looks a host up once, judges every address, and allows a connection only to the judged addresses. */
import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { promisify } from 'node:util';
import ipaddr from 'ipaddr.js';

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
    const refusal = refusalOfAddress(address, isPrivateSite);
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

/**
 * Fixes the addresses of a connection, because a second look-up could return other addresses than those that were
 * judged.
 */
export function fixedLookup(judged: readonly LookupAddress[]): LookupFunction {
  const [first] = judged;
  return (_host, options, callback) => {
    if (options.all === true) callback(null, [...judged]);
    else callback(null, first!.address, first!.family);
  };
}

/*
 * Decides which addresses a check may reach. A site's name is not ours, so it must not lead into the worker's own
 * network.
 */

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/**
 * The metadata services of clouds, and addresses that only a cloud's own machines answer. No check may reach them, not
 * even for a private site.
 */
const NEVER = [
  ...['169.254.0.0/16', '100.100.100.200/32', '168.63.129.16/32', '192.0.0.192/32'],
  ...['fe80::/10', 'fd00:ec2::254/128', 'fd20:ce::254/128'],
].map((it) => ipaddr.parseCIDR(it));

/** Networks of IPv6 that embed addresses of IPv4, and the bytes that may be the address. */
const EMBEDDING: { range: [ipaddr.IPv6, number]; bytes: number[][]; isLocal?: true }[] = [
  { range: ipaddr.IPv6.parseCIDR('::/96'), bytes: [[12, 13, 14, 15]] },
  { range: ipaddr.IPv6.parseCIDR('::ffff:0:0/96'), bytes: [[12, 13, 14, 15]] },
  { range: ipaddr.IPv6.parseCIDR('64:ff9b::/96'), bytes: [[12, 13, 14, 15]] },
  {
    range: ipaddr.IPv6.parseCIDR('64:ff9b:1::/48'),
    // Each network chooses the length of its prefix (RFC 6052, section 2.2), so every possible place is checked.
    bytes: [
      [12, 13, 14, 15],
      [9, 10, 11, 12],
      [7, 9, 10, 11],
      [6, 7, 9, 10],
    ],
    isLocal: true,
  },
  { range: ipaddr.IPv6.parseCIDR('2002::/16'), bytes: [[2, 3, 4, 5]] },
];

/** @returns why the address must not be reached, or null */
export function refusalOfAddress(address: string, isPrivateSite: boolean): string | null {
  if (!ipaddr.isValid(address)) return `${address} is not an address`;
  const all = withEmbedded(ipaddr.parse(address));
  if (all.some(isNever)) return `${address} is a link-local or metadata address, which no check may reach`;
  if (all.every(isPublic) || isPrivateSite) return null;
  return `${address} is not a public address: set private: true for the site if that is right`;
}

function withEmbedded(address: Address): Address[] {
  const bytes = address.toByteArray();
  const embedded = embeddingOf(address)?.bytes ?? [];
  return [address, ...embedded.map((places) => new ipaddr.IPv4(places.map((it) => bytes[it]!)))];
}

/** An address that embeds one of IPv4 is as public as that one. */
function isPublic(address: Address): boolean {
  const embedding = embeddingOf(address);
  return embedding === undefined ? address.range() === 'unicast' : embedding.isLocal !== true;
}

const embeddingOf = (address: Address) =>
  address.kind() === 'ipv4' ? undefined : EMBEDDING.find(({ range }) => (address as ipaddr.IPv6).match(range));

const isNever = (address: Address): boolean =>
  NEVER.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits));

/** The site gave no answer that counts. The message contains no secret. */
export class NoAnswer extends Error {}

/** The answer is over a limit, but the site did answer. */
export class Oversized extends Error {}
