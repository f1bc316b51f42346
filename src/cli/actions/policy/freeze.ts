/** What `belay freeze` and `thaw` do: they begin and end a freeze at Temporal. */
import type { FreezeScope } from '../../../contract/freeze.ts';
import { freezeId } from '../../../contract/ids/workflow-ids.ts';
import { SCHEMA_VERSION } from '../../../contract/names.ts';
import { definedFields } from '../../../contract/plain-object.ts';
import { BelayError } from '../../../contract/results/belay-error.ts';
import { blocksText, scopeText } from '../../../contract/wording/freeze-text.ts';
import { plainText } from '../../../contract/wording/safe-text.ts';
import { printJson } from '../../../process/json-document.ts';
import { readConfiguration, type Configuration } from '../../../config/load.ts';
import { print, printNote } from '../../../process/print.ts';
import { withBelay } from '../../connection/open-belay.ts';
import { reportEndpoints } from '../../connection/report-endpoints.ts';

interface ScopeOptions {
  fleet?: string;
  server?: string;
  site?: string;
  app?: string;
}

export interface FreezeOptions extends ScopeOptions {
  until?: string;
  /** Milliseconds. */
  for?: number;
  reason: string;
  override: boolean;
  backups?: boolean;
  extend?: boolean;
  by?: string;
  json?: boolean;
}

export async function freeze({ json: asJson, ...options }: FreezeOptions): Promise<void> {
  const { until, for: forMs, reason, by, backups, extend, override } = options;
  if (until === undefined && forMs === undefined)
    throw new BelayError('Usage', 'a freeze needs an end: give --until TIME or --for DURATION');
  await reportEndpoints(undefined);
  if (options.fleet !== undefined) await noteUnknownFleet(options.fleet);
  const begun = await withBelay((belay) =>
    belay.freezes.begin({
      scope: scopeOf(options),
      reason,
      override: override ? 'reason' : 'never',
      ...definedFields({ until, forMs, by, backups, extend }),
    }),
  );
  const workflowId = freezeId(begun.scope);
  if (asJson === true) return printJson({ schemaVersion: SCHEMA_VERSION, workflowId, freeze: begun, error: null });
  print([
    `${scopeText(begun.scope, plainText)} is frozen until ${begun.until}: ${blocksText(begun)} are held back`,
    `  freeze: ${workflowId}`,
  ]);
}

/** The workers' belay.yaml decides, and this one may be another. */
async function noteUnknownFleet(fleet: string): Promise<void> {
  const { fleets } = await readConfiguration().catch((): Configuration => ({}));
  if (fleets === undefined || fleet in fleets) return;
  const known = Object.keys(fleets).map((name) => plainText(name));
  printNote(`note: belay.yaml has no fleet ${plainText(fleet)}, only ${known.join(', ')}: check the name`);
}

export interface ThawOptions extends ScopeOptions {
  reason: string;
  by?: string;
  json?: boolean;
}

export async function thaw({ reason, by, json: asJson, ...options }: ThawOptions): Promise<void> {
  await reportEndpoints(undefined);
  const scope = scopeOf(options);
  const { freeze: ended, woken } = await withBelay((belay) =>
    belay.freezes.thaw(scope, { reason, ...definedFields({ by }) }),
  );
  const workflowId = freezeId(scope);
  if (asJson === true)
    return printJson({ schemaVersion: SCHEMA_VERSION, workflowId, freeze: ended, woken, error: null });
  const waited = woken.length === 0 ? '' : `; ${woken.length} that waited look again`;
  print(`${workflowId} has ended${waited}`);
}

function scopeOf({ fleet, server, site, app }: ScopeOptions): FreezeScope {
  if (fleet !== undefined) return { kind: 'fleet', id: fleet };
  if (server !== undefined) return { kind: 'server', id: server };
  if (site !== undefined) return { kind: 'site', id: site };
  return app === undefined ? { kind: 'all' } : { kind: 'app', id: app };
}
