/** Which addresses a check may reach. A site's name is not ours, so it must not lead into the worker's own network. */
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** The metadata services of clouds: never, also not for a private site. */
const NEVER = ['169.254.0.0/16', '100.100.100.200/32', 'fe80::/10', 'fd00:ec2::254/128'].map((it) =>
  ipaddr.parseCIDR(it),
);

/** Networks that embed an IPv4 address in their own. */
const EMBEDDING: { range: [ipaddr.IPv6, number]; firstByte: number }[] = [
  { range: ipaddr.IPv6.parseCIDR('::ffff:0:0/96'), firstByte: 12 },
  { range: ipaddr.IPv6.parseCIDR('64:ff9b::/96'), firstByte: 12 },
  { range: ipaddr.IPv6.parseCIDR('2002::/16'), firstByte: 2 },
];

/** @returns why the address must not be reached, or null */
export function refusalOf(address: string, isPrivateSite: boolean): string | null {
  if (!ipaddr.isValid(address)) return `${address} is not an address`;
  const all = withEmbedded(ipaddr.parse(address));
  if (all.some(isNever)) return `${address} is a link-local or metadata address, which no check may reach`;
  const isPublic = all.every((it) => it.range() === 'unicast' || isEmbedding(it));
  if (isPublic || isPrivateSite) return null;
  return `${address} is not a public address: set private: true for the site if that is right`;
}

function withEmbedded(address: Address): Address[] {
  const embedded = embeddedIn(address);
  return embedded === null ? [address] : [address, embedded];
}

function embeddedIn(address: Address): ipaddr.IPv4 | null {
  if (address.kind() === 'ipv4') return null;
  const found = EMBEDDING.find(({ range }) => (address as ipaddr.IPv6).match(range));
  if (found === undefined) return null;
  return new ipaddr.IPv4(address.toByteArray().slice(found.firstByte, found.firstByte + 4));
}

const isEmbedding = (address: Address): boolean => embeddedIn(address) !== null;

const isNever = (address: Address): boolean =>
  NEVER.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits));
