/** The inventory: which sites and apps belong to which server, across all fleets in belay.yaml. Pure. */
import { appTarget, siteTarget, type Target } from '../contract/target.ts';
import { lockIdOf } from '../contract/ids.ts';
import type { FleetConfig, ServerConfig } from '../features/rollouts/config.ts';

export type Fleets = Record<string, FleetConfig>;

export interface InventoryEntry {
  fleet: string;
  serverId: string;
}

export interface Inventory {
  servers: Map<string, InventoryEntry & { targets: Target[]; labels: Record<string, string> }>;
  placeOf: (target: Target) => InventoryEntry | undefined;
}

/** What is deployed on a server: its sites in the order of the file, then its apps. */
export const targetsOn = ({ sites = [], apps = [] }: ServerConfig): Target[] => [
  ...sites.map(siteTarget),
  ...apps.map(appTarget),
];

/** Expects each server, site and app only once; check-fleets.ts reports duplicates. */
export function buildInventory(fleets: Fleets = {}): Inventory {
  const places = new Map<string, InventoryEntry>();
  const inventory: Inventory = { servers: new Map(), placeOf: (target) => places.get(lockIdOf(target)) };
  for (const [fleet, { servers }] of Object.entries(fleets)) {
    for (const [serverId, server] of servers) {
      const targets = targetsOn(server);
      inventory.servers.set(serverId, { fleet, serverId, targets, labels: server.labels ?? {} });
      for (const target of targets) places.set(lockIdOf(target), { fleet, serverId });
    }
  }
  return inventory;
}

export const keysOf = ({ fleet, serverId }: InventoryEntry): string[] => ['fleets', fleet, 'servers', serverId];
export const keyOf = (entry: InventoryEntry): string => keysOf(entry).join('.');
