/** The freezes and checks of a scenario: in the configuration of the workers, and set while it is played. */
import type { Configuration } from '../../../src/config/load.ts';
import type { FreezeScope, AdHocFreeze } from '../../../src/features/freezes/shapes.ts';
import { freezeId } from '../../../src/contract/ids.ts';
import { FREEZE_TYPE } from '../../../src/contract/names.ts';
import type { RunInput } from '../../../src/contract/run.ts';
import { CHECK, type FreezeDraw } from '../../model/gate-draws.ts';
import type { PlayedFreeze } from '../../model/record.ts';
import type { Act, Scenario } from '../../model/scenario.ts';
import { targetNamed } from '../../model/targets.ts';
import { freezeNow, thawNow } from '../stack/freeze-now.ts';
import { startInput } from '../stack/inspect.ts';
import { SITES_URL } from '../worker/sites.ts';
import { START_MS, type World } from '../world.ts';

const MINUTE = 60_000;

type FreezeAct = Extract<Act, { do: 'freeze' }>;

const inFile = ({ acts }: Scenario): FreezeAct[] =>
  acts.filter((it): it is FreezeAct => it.do === 'freeze' && it.inFile);

/** In whole minutes, as the file has it. */
function spanOf({ atMs, forMs }: FreezeAct): { fromMs: number; toMs: number } {
  const fromMs = START_MS + Math.floor(atMs / MINUTE) * MINUTE;
  return { fromMs, toMs: fromMs + Math.ceil(forMs / MINUTE) * MINUTE };
}

const localTime = (ms: number): string => new Date(ms).toISOString().slice(0, 'yyyy-mm-ddThh:mm'.length);
const nameOf = (index: number): string => `freeze-${index + 1}`;

/** @param scale how long the scenario is */
export function configurationOf(scenario: Scenario, scale: number): Configuration {
  const { name, intervalMs, ...rules } = CHECK;
  const sites = (scenario.checked ?? []).map((id) => [id, { url: `${SITES_URL}/${id}/`, check: name }] as const);
  const freezes = inFile(scenario).map((it, index) => [nameOf(index), freezeConfig(it)] as const);
  return {
    ...(sites.length === 0
      ? {}
      : { sites: Object.fromEntries(sites), checks: { [name]: { ...rules, interval: intervalMs * scale } } }),
    ...(freezes.length === 0 ? {} : { freezes: Object.fromEntries(freezes) }),
  };
}

function freezeConfig(act: FreezeAct) {
  const { target, backups, override } = act;
  const { fromMs, toMs } = spanOf(act);
  const { kind, id } = scopeOf(target);
  return {
    ...{ from: localTime(fromMs), to: localTime(toMs), for: { [`${kind}s`]: [id] }, reason: 'inventory', override },
    ...(backups ? { blocks: ['deploy' as const, 'backup' as const] } : {}),
  };
}

type TargetScope = Exclude<FreezeScope, { kind: 'all' }>;

const scopeOf = (name: string): TargetScope => (/s\d$/.test(name) ? { kind: 'server', id: name } : targetNamed(name));

const isOpen = ({ server }: World, scope: FreezeScope): boolean => server.find(freezeId(scope))?.closedMs === null;

/** Those in the configuration hold by themselves. */
export function freeze(world: World, { target, forMs, backups, override, inFile: isInFile }: FreezeDraw): void {
  const scope = scopeOf(target);
  if (isInFile || isOpen(world, scope)) return;
  freezeNow(world.server, { scope, forMs, backups: backups && scope.kind === 'server', override });
}

export function thaw(world: World, target: string): void {
  const scope = scopeOf(target);
  if (isOpen(world, scope)) void thawNow(world.server, scope);
}

/** Lets a run off all that is frozen by now, and all that the configuration has. */
export function overrideOf({ server }: World, scenario: Scenario): Pick<RunInput, 'override'> {
  const open = server.runs.filter(({ type, closedMs }) => type === FREEZE_TYPE && closedMs === null);
  const freezes = [...inFile(scenario).map((_, index) => nameOf(index)), ...open.map(({ workflowId }) => workflowId)];
  return freezes.length === 0 ? {} : { override: { freezes, reason: 'CVE', by: 'ana' } };
}

export function playedFreezes({ server, clock }: World, scenario: Scenario): PlayedFreeze[] {
  const adHoc = server.runs
    .filter(({ type }) => type === FREEZE_TYPE)
    .map((run): PlayedFreeze => {
      const { scope, until, blocks, override } = startInput<AdHocFreeze>(run);
      const toMs = Math.min(Date.parse(until), run.closedMs ?? clock.nowMs);
      const target = (scope as TargetScope).id;
      return {
        name: run.workflowId,
        target,
        fromMs: run.startedMs,
        toMs,
        backups: blocks.includes('backup'),
        override,
      };
    });
  const filed = inFile(scenario).map((act, index): PlayedFreeze => {
    const { target, backups, override } = act;
    return { name: nameOf(index), target, ...spanOf(act), backups, override };
  });
  return [...filed, ...adHoc];
}
