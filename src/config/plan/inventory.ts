/** The register: which sites belong to which server, of all fleets of belay.yaml. Pure. */
import type { FleetConfig } from '../file/fleet-schema.ts';

export type Fleets = Record<string, FleetConfig>;

export interface Place {
  fleet: string;
  serverId: string;
}

export interface Register {
  servers: Map<string, Place & { siteIds: string[] }>;
  sites: Map<string, Place>;
}

/** Of one that names nothing twice. */
export function registerOf(fleets: Fleets = {}): Register {
  const register: Register = { servers: new Map(), sites: new Map() };
  for (const [fleet, { servers }] of Object.entries(fleets)) {
    for (const [serverId, { sites: siteIds = [] }] of servers) {
      register.servers.set(serverId, { fleet, serverId, siteIds });
      for (const siteId of siteIds) register.sites.set(siteId, { fleet, serverId });
    }
  }
  return register;
}

export const keysOf = ({ fleet, serverId }: Place): string[] => ['fleets', fleet, 'servers', serverId];
export const keyOf = (place: Place): string => keysOf(place).join('.');

export interface Contradiction {
  place: Place;
  /** With the remedy. */
  message: string;
}

/** Why these sites are not to be deployed after a backup of this server, or null. */
export function contradiction({ servers, sites }: Register, serverId: string, siteIds: string[]): Contradiction | null {
  const registered = servers.get(serverId);
  for (const siteId of siteIds) {
    const place = sites.get(siteId);
    if (place !== undefined && place.serverId !== serverId) {
      const remedy = `name --server ${place.serverId}, or move the site in the file`;
      const message = `site ${siteId} belongs to server ${place.serverId}, not to ${serverId}: ${remedy}`;
      return { place, message };
    }
    if (place === undefined && registered !== undefined) {
      const remedy = 'name the right server, or add the site there';
      return { place: registered, message: `site ${siteId} is none of server ${serverId}: ${remedy}` };
    }
  }
  return null;
}
