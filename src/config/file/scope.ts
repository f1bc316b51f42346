/** What an entry of belay.yaml is for: its key `for`. */
import { z } from 'zod';
import type { Target } from '../../contract/target.ts';
import type { Configuration } from './file-schema.ts';
import { AS_WRITTEN, id, KEPT, labels, oneOf, oneOrMore, type Path, type ReportIssue } from './schema-values.ts';

const names = oneOrMore(z.string().register(AS_WRITTEN, KEPT), 'write the name of a fleet, or a list of them');
const idsOf = (kind: string) => oneOrMore(id, `write the id of a ${kind}, or a list of them`);

export const scope = z
  .strictObject(
    {
      fleets: names.optional(),
      servers: idsOf('server').optional(),
      sites: idsOf('site').optional(),
      apps: idsOf('app').optional(),
      labels: labels.optional(),
    },
    { error: 'write fleets:, servers:, sites:, apps: or labels: below it' },
  )
  .describe('What it is for: any entry of a key, and all keys; default everything.');

/** Every key has to fit, and a key fits if one of its values does. A scope without keys is for everything. */
export type Scope = z.infer<typeof scope>;

/** Servers, sites and apps need no fleet: a scope that names them by their ids fits them all the same. */
export function checkScope(
  path: Path,
  scope: Scope | undefined,
  { fleets = {} }: Configuration,
  report: ReportIssue,
): void {
  for (const [index, fleet] of (scope?.fleets ?? []).entries()) {
    if (Object.hasOwn(fleets, fleet)) continue;
    report([...path, 'fleets', index], `there is no fleet ${fleet}: ${oneOf(fleets, 'fleets')}`);
  }
  const servers = Object.values(fleets).flatMap((fleet) => [...fleet.servers.values()]);
  for (const [label, value] of Object.entries(scope?.labels ?? {})) {
    if (servers.some(({ labels = {} }) => labels[label] === value)) continue;
    report([...path, 'labels', label], `no server has the label ${label}: ${value}: correct it, or label a server`);
  }
}

/** Where an operation happens. */
export interface Place {
  /** What is deployed, or everything on the server that is backed up. */
  targets: Target[];
  /** The server of the inventory, and the one that the run names. */
  serverIds: string[];
  /** Null if no fleet has it. */
  fleet: string | null;
  labels: Record<string, string>;
}

export function isInScope({ fleets, servers, sites, apps, labels = {} }: Scope, place: Place): boolean {
  const named = { site: sites, app: apps };
  const isNamed = place.targets.some(({ kind, id }) => named[kind]?.includes(id));
  return (
    (isNamed || (sites === undefined && apps === undefined)) &&
    (fleets === undefined || (place.fleet !== null && fleets.includes(place.fleet))) &&
    (servers === undefined || place.serverIds.some((it) => servers.includes(it))) &&
    Object.entries(labels).every(([name, value]) => place.labels[name] === value)
  );
}
