/** Fleets in belay.yaml: the schema, and the rules between keys. */
import { z } from 'zod';
import { lockIdOf } from '../../contract/ids.ts';
import { targetText } from '../../contract/target.ts';
import { MAX_TARGETS } from '../../request/limits.ts';
import { keyOf, targetsOn, type InventoryEntry } from '../inventory.ts';
import type { Configuration } from './file-schema.ts';
import { ids, labels, name, refuseBadId, type ReportIssue } from './schema-values.ts';

const server = z.strictObject(
  {
    sites: ids.describe('Its sites, in the order in which they are deployed.').optional(),
    apps: ids.describe('Its apps, which are deployed after the sites.').optional(),
    labels: labels.describe('Labels you choose, for waves.').optional(),
  },
  { error: 'write sites:, apps: or labels: below it, or nothing' },
);

const fleet = z.strictObject(
  {
    servers: z
      .record(
        z.string().superRefine(refuseBadId),
        server.nullable().transform((it) => it ?? {}),
        { error: 'write the servers below it, by their ids' },
      )
      .refine((servers) => Object.keys(servers).length > 0, { error: 'name at least one server' })
      // Objects put keys that look like numbers first; `inOrderOfFile` restores the order of the file.
      .transform((servers) => new Map(Object.entries(servers)))
      .describe('Servers, by their ids.'),
  },
  { error: 'write servers: and the servers below it' },
);

export const fleets = z.record(name, fleet);

export type ServerConfig = z.infer<typeof server>;
export type FleetConfig = z.infer<typeof fleet>;

export function checkInventory({ fleets = {}, inventory }: Configuration, report: ReportIssue): void {
  if (inventory === 'strict' && Object.keys(fleets).length === 0)
    report(['inventory'], 'it would refuse every run, as there are no fleets: add fleets, or remove it');
  const servers = new Map<string, InventoryEntry>();
  const places = new Map<string, InventoryEntry>();
  for (const [fleet, config] of Object.entries(fleets)) {
    let count = 0;
    for (const [serverId, server] of config.servers) {
      const targets = targetsOn(server);
      const path = ['fleets', fleet, 'servers', serverId];
      const before = servers.get(serverId);
      if (before !== undefined)
        report(path, `server ${serverId} is already in ${keyOf(before)}: remove one; labels can group servers`);
      servers.set(serverId, { fleet, serverId });
      for (const target of targets) {
        const entry = places.get(lockIdOf(target));
        const list = `${target.kind}s` as const;
        const at = [...path, list, server[list]?.indexOf(target.id) ?? 0];
        if (entry !== undefined) {
          report(at, `${targetText(target)} is already in ${keyOf(entry)}: ${A[target.kind]} has only one server`);
        }
        places.set(lockIdOf(target), { fleet, serverId });
      }
      count += Math.max(1, targets.length);
    }
    if (count > MAX_TARGETS)
      report(['fleets', fleet], `it has more than ${MAX_TARGETS} sites and apps: split it into two fleets`);
  }
}

const A = { site: 'a site', app: 'an app' } as const;
