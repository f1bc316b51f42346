/** The ids that belay.yaml names anywhere, and other spellings of them. Pure. */
import type { Target } from '../contract/target.ts';
import type { ScopeConfig } from '../features/freezes/config.ts';
import type { Configuration } from './file/file-schema.ts';
import { buildInventory, keysOf } from './inventory.ts';

export interface NamedId {
  kind: 'server' | Target['kind'];
  id: string;
}

interface KnownId extends NamedId {
  /** Where the file names it. */
  path: string[];
}

export interface KnownIds {
  has: (named: NamedId) => boolean;
  /** The known id that a service may take an unknown one for, or null. */
  respelled: (named: NamedId) => KnownId | null;
}

export function knownIds(configuration: Configuration): KnownIds {
  const exact = new Set<string>();
  const alike = new Map<string, KnownId>();
  for (const known of idsIn(configuration)) {
    exact.add(keyOf(known, known.id));
    const key = keyOf(known, canonical(known.id));
    if (!alike.has(key)) alike.set(key, known);
  }
  const has = (named: NamedId) => exact.has(keyOf(named, named.id));
  return { has, respelled: (named) => (has(named) ? null : (alike.get(keyOf(named, canonical(named.id))) ?? null)) };
}

const keyOf = ({ kind }: NamedId, id: string): string => `${kind}:${id}`;

/** Services may read `034` as 34, ignore the case of an id, or compose its letters. */
const canonical = (id: string): string =>
  // First to upper case: some letters have two lower case forms.
  id
    .normalize('NFC')
    .toUpperCase()
    .toLowerCase()
    .normalize('NFC')
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
      Object.entries(all).flatMap(([name, { for: scope }]: [string, { for?: ScopeConfig | undefined }]) =>
        idsOfScope(scope ?? {}, [...key.split('.'), name, 'for']),
      ),
    ),
  ];
}

function idsOfScope({ servers = [], sites = [], apps = [] }: ScopeConfig, path: string[]): KnownId[] {
  return [
    ...servers.map((id) => ({ kind: 'server' as const, id, path: [...path, 'servers'] })),
    ...sites.map((id) => ({ kind: 'site' as const, id, path: [...path, 'sites'] })),
    ...apps.map((id) => ({ kind: 'app' as const, id, path: [...path, 'apps'] })),
  ];
}
