/** Sets and ends the freezes of a scenario through outages of Temporal. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { FreezeScope } from '../../src/features/freezes/shapes.ts';
import { freezeId } from '../../src/contract/ids.ts';
import type { RunInput } from '../../src/contract/run.ts';
import { BelayError } from '../../src/starter.ts';
import type { FreezeDraw } from './gate-draws.ts';
import type { Stage } from './play.ts';
import type { PlayedFreeze } from './record.ts';
import { resourceNamed, targetNamed } from './targets.ts';

const TRY_AGAIN_MS = 250;
const WHY = { reason: 'disks', by: 'ana' };

export interface Freezing {
  begin(drawn: FreezeDraw): Promise<void>;
  thaw(name: string): Promise<void>;
  /** Lets a run off all that hold now. */
  override(): Pick<RunInput, 'override'>;
  readonly played: PlayedFreeze[];
}

export function freezing({ arena: { belay }, prefix, late }: Stage): Freezing {
  const played: PlayedFreeze[] = [];
  const ofTarget = (target: string) => played.find((it) => it.target === target && it.toMs > Date.now());

  /** @returns null if the scenario ended before, or if Temporal says no */
  async function patiently<T>(act: () => Promise<T>): Promise<T | null> {
    while (!late.aborted) {
      try {
        return await act();
      } catch (error) {
        if (!(error instanceof BelayError)) throw error;
        if (error.type === 'NotFound' || error.type === 'Usage') return null;
        await sleep(TRY_AGAIN_MS);
      }
    }
    return null;
  }

  return {
    played,
    async begin({ target: name, forMs, backups: both, override }) {
      const target = prefix + name;
      const scope = scopeOf(target);
      const backups = both && scope.kind === 'server';
      const begun = await patiently(() => belay.freezes.begin({ scope, forMs, backups, override, ...WHY }));
      if (begun === null) return;
      const { freeze } = begun;
      const toMs = Date.parse(freeze.until);
      played.push({ name: freezeId(scope), target, fromMs: Date.now(), toMs, backups, override });
    },
    async thaw(name) {
      const freeze = ofTarget(prefix + name);
      if (freeze === undefined) return;
      // It may end at any moment from the first attempt on.
      freeze.toMs = Date.now();
      await patiently(() => belay.freezes.thaw(scopeOf(freeze.target), WHY));
    },
    override() {
      const freezes = played.filter(({ toMs }) => toMs > Date.now()).map(({ name }) => name);
      return freezes.length === 0 ? {} : { override: { freezes, reason: 'CVE', by: 'ana' } };
    },
  };
}

function scopeOf(target: string): FreezeScope {
  return 'server' in resourceNamed(target) ? { kind: 'server', id: target } : targetNamed(target);
}
