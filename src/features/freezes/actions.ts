/** What `belay freeze` and `thaw` do: they begin and end a freeze at Temporal. */
import type { AdHocFreeze, FreezeScope } from './shapes.ts';
import { freezeId } from '../../contract/ids.ts';
import { SCHEMA_VERSION } from '../../contract/names.ts';
import { definedFields } from '../../contract/plain-object.ts';
import { BelayError } from '../../contract/errors.ts';
import { blocksText, scopeText } from './text.ts';
import { plainText } from '../../contract/safe-text.ts';
import { printJson } from '../../process/json-document.ts';
import { print, printNote } from '../../process/print.ts';
import type { Thawed } from '../../starter.ts';
import { inTurn } from '../../cli/in-turn.ts';
import { withBelay } from '../../cli/open-belay.ts';
import { reportEndpoints } from '../../cli/report-endpoints.ts';

interface ScopeOptions {
  fleet?: string[];
  server?: string[];
  site?: string[];
  app?: string[];
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
  const how = {
    reason,
    override: override ? ('reason' as const) : ('never' as const),
    ...definedFields({ until, forMs, by, backups, extend }),
  };
  const begun = await withBelay((belay) =>
    inTurn(
      scopesOf(options),
      (scope) => belay.freezes.begin({ scope, ...how }),
      (it) => frozenLine(it.freeze),
    ),
  );
  const freezes = begun.map(({ freeze: it }) => ({ workflowId: freezeId(it.scope), freeze: it }));
  printNote(begun.flatMap(({ note }) => (note === null ? [] : [`note: ${note}`])));
  if (asJson === true) return printJson({ schemaVersion: SCHEMA_VERSION, ...freezes[0], freezes, error: null });
  print(freezes.flatMap(({ workflowId, freeze: it }) => [frozenLine(it), `  freeze: ${workflowId}`]));
}

const frozenLine = (freeze: AdHocFreeze): string =>
  `${scopeText(freeze.scope, plainText)} is frozen until ${freeze.until}: ${blocksText(freeze)} are held back`;

export interface ThawOptions extends ScopeOptions {
  reason: string;
  by?: string;
  json?: boolean;
}

export async function thaw({ reason, by, json: asJson, ...options }: ThawOptions): Promise<void> {
  await reportEndpoints(undefined);
  const why = { reason, ...definedFields({ by }) };
  const thawed = await withBelay((belay) =>
    inTurn(
      scopesOf(options),
      async (scope) => ({ workflowId: freezeId(scope), ...(await belay.freezes.thaw(scope, why)) }),
      thawedLine,
    ),
  );
  const freezes = thawed.map(({ workflowId, freeze: ended }) => ({ workflowId, freeze: ended }));
  const woken = [...new Set(thawed.flatMap((it) => it.woken))];
  if (asJson === true) return printJson({ schemaVersion: SCHEMA_VERSION, ...freezes[0], woken, freezes, error: null });
  print(thawed.map(thawedLine));
}

const thawedLine = ({ workflowId, woken }: Thawed & { workflowId: string }): string =>
  `${workflowId} has ended${woken.length === 0 ? '' : `; ${woken.length} that waited look again`}`;

/** Of one kind, because the options exclude each other. */
function scopesOf(options: ScopeOptions): FreezeScope[] {
  const kinds = ['fleet', 'server', 'site', 'app'] as const;
  const scopes = kinds.flatMap((kind) => (options[kind] ?? []).map((id) => ({ kind, id })));
  return scopes.length === 0 ? [{ kind: 'all' }] : scopes;
}
