/**
 * Checks runs against the inventory: a backup of one server must not be taken for that of another, and what holds for an
 * id must hold for the same id in another spelling. Workers refuse what conflicts. Starters check, too, so that users
 * learn it early. Pure.
 */
import { type RunParts, type Target, targetText, targetsOf, appTarget, siteTarget } from '../contract/target.ts';
import { plainText } from '../contract/safe-text.ts';
import type { Configuration } from './file/file-schema.ts';
import type { Scope } from './file/scope.ts';
import { lockIdOf } from '../contract/ids.ts';
import type { FleetConfig, ServerConfig } from './file/fleets.ts';

export interface InventoryConflict {
  /** The keys of the file that forbid it. */
  path: string[];
  /** What is wrong, and how to fix it. */
  message: string;
}

/** @returns what keeps such a run from the file's servers, sites and apps; null if nothing does */
export function createInventoryCheck(configuration: Configuration): (asked: RunParts) => InventoryConflict | null {
  const ids = knownIds(configuration);
  const inventory = buildInventory(configuration.fleets);
  const isStrict = configuration.inventory === 'strict';
  return (asked) =>
    refuseSpelling(asked, ids) ??
    refuseOtherServer(asked, inventory) ??
    (isStrict ? refuseUnknown(asked, inventory) : null);
}

const idsOf = (asked: RunParts): NamedId[] => [
  ...(asked.serverId === undefined ? [] : [{ kind: 'server' as const, id: asked.serverId }]),
  ...targetsOf(asked),
];

export const nameOf = ({ kind, id }: NamedId): string => `${kind} ${plainText(id)}`;

/** A lock, freeze or approval of the one spelling would not hold for the other. */
function refuseSpelling(asked: RunParts, { respelled }: InventoryIds): InventoryConflict | null {
  for (const named of idsOf(asked)) {
    const known = respelled(named);
    if (known !== null) return { path: known.path, message: spellingText(named, known) };
  }
  return null;
}

/** @returns what is wrong with a name that the file spells otherwise, and how to fix it */
export function spellingText(named: NamedId, known: NamedId): string {
  const remedy = `write ${plainText(known.id)}; if it is another ${named.kind}, list ${plainText(named.id)} in the file as well`;
  return `${nameOf(named)} differs from the known ${nameOf(known)} only in its spelling: ${remedy}`;
}

/** The backup of one server does not cover a target on another. */
function refuseOtherServer(
  { serverId, ...asked }: RunParts,
  { servers, placeOf }: Inventory,
): InventoryConflict | null {
  if (serverId === undefined) return null;
  const registered = servers.get(serverId);
  for (const target of targetsOf(asked)) {
    const place = placeOf(target);
    if (place !== undefined && place.serverId !== serverId) {
      const remedy = `use --server ${place.serverId}, or move the ${target.kind} in the file`;
      const message = `${targetText(target)} belongs to server ${place.serverId}, not to ${plainText(serverId)}: ${remedy}`;
      return { path: keysOf(place), message };
    }
    if (place === undefined && registered !== undefined) {
      const remedy = `use another server, or add the ${target.kind} there`;
      return { path: keysOf(registered), message: `${targetText(target)} is not on server ${serverId}: ${remedy}` };
    }
  }
  return null;
}

function refuseUnknown(asked: RunParts, { servers, placeOf }: Inventory): InventoryConflict | null {
  const isListed = (named: NamedId) =>
    named.kind === 'server' ? servers.has(named.id) : placeOf({ ...named, kind: named.kind }) !== undefined;
  const unknown = idsOf(asked).find((it) => !isListed(it));
  if (unknown === undefined) return null;
  const message = `no fleet has ${nameOf(unknown)}, and the inventory is strict: add it under fleets`;
  return { path: ['inventory'], message };
}

/* The ids that belay.yaml names anywhere, and other spellings of them. Pure. */

export interface NamedId {
  kind: 'server' | Target['kind'];
  id: string;
}

interface KnownId extends NamedId {
  /** Where the file names it. */
  path: string[];
}

type InventoryIds = ReturnType<typeof knownIds>;

export function knownIds(configuration: Configuration) {
  const exact = new Set<string>();
  const alike = new Map<string, KnownId>();
  for (const known of idsIn(configuration)) {
    exact.add(spellingKey(known, known.id));
    const key = spellingKey(known, canonical(known.id));
    if (!alike.has(key)) alike.set(key, known);
  }
  const has = (named: NamedId) => exact.has(spellingKey(named, named.id));
  return {
    has,
    /** The known id that a service may take an unknown one for, or null. */
    respelled: (named: NamedId) => (has(named) ? null : (alike.get(spellingKey(named, canonical(named.id))) ?? null)),
  };
}

const spellingKey = ({ kind }: NamedId, id: string): string => `${kind}:${id}`;

/** Services may read `034` or full-width digits as 34, ignore the case of an id, or compose its letters. */
const canonical = (id: string): string =>
  // First to upper case: some letters have two lower case forms.
  id
    .normalize('NFKC')
    .toUpperCase()
    .toLowerCase()
    .normalize('NFKC')
    .replace(/^0+(?=.)/su, '');

function idsIn({ fleets, sites = {}, ...configuration }: Configuration): KnownId[] {
  const { freezes = {}, windows = {}, approvals = {}, notify } = configuration;
  const entries = [...buildInventory(fleets).servers.values()];
  const scopes = Object.entries({ freezes, windows, approvals, 'notify.reports': notify?.reports ?? {} });
  return [
    ...entries.flatMap((entry) => [
      { kind: 'server' as const, id: entry.serverId, path: keysOf(entry) },
      ...entry.targets.map((target) => ({ ...target, path: keysOf(entry) })),
    ]),
    ...Object.keys(sites).map((id) => ({ kind: 'site' as const, id, path: ['sites', id] })),
    ...scopes.flatMap(([key, all]) =>
      Object.entries(all).flatMap(([name, { for: scope }]: [string, { for?: Scope | undefined }]) =>
        idsOfScope(scope ?? {}, [...key.split('.'), name, 'for']),
      ),
    ),
  ];
}

function idsOfScope({ servers = [], sites = [], apps = [] }: Scope, path: string[]): KnownId[] {
  return [
    ...servers.map((id) => ({ kind: 'server' as const, id, path: [...path, 'servers'] })),
    ...sites.map((id) => ({ kind: 'site' as const, id, path: [...path, 'sites'] })),
    ...apps.map((id) => ({ kind: 'app' as const, id, path: [...path, 'apps'] })),
  ];
}

/* The inventory: which sites and apps belong to which server, across all fleets in belay.yaml. Pure. */

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

/** The file has been checked: it names each server, site and app only once. */
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

const keysOf = ({ fleet, serverId }: InventoryEntry): string[] => ['fleets', fleet, 'servers', serverId];
export const keyOf = (entry: InventoryEntry): string => keysOf(entry).join('.');
