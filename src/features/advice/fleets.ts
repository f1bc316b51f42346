/** Checks whether what was deployed lately is in a fleet: a freeze for a fleet does not hold back what is in none. */
import { readConfiguration, type Configuration } from '../../config/load.ts';
import { buildInventory } from '../../config/inventory.ts';
import { targetText } from '../../contract/target-text.ts';
import { plainText } from '../../contract/safe-text.ts';
import type { OperationAdvice } from './rules.ts';
import { shortList, type Check, type Finding } from '../../cli/doctor-check.ts';

/** @param lookBack what the last 30 days had @throws if Temporal does not tell */
export const fleetsCheck = (lookBack: () => Promise<OperationAdvice[]>): Check => ({
  name: 'fleets',
  run: async (): Promise<Finding> => {
    const configuration = await readConfiguration();
    if (!hasScopes(configuration)) return { state: 'skipped', message: 'no freeze and no window is for a fleet' };
    const found = await lookBack().catch((error: Error) => error.message);
    if (typeof found === 'string') return { state: 'skipped', message: found };
    const { placeOf } = buildInventory(configuration.fleets);
    const targets = found.flatMap(({ target }) => target ?? []);
    const outside = targets.filter((it) => placeOf(it) === undefined).map((it) => targetText(it, plainText));
    if (outside.length === 0) return { state: 'ok', message: 'have everything that was deployed in the last 30 days' };
    return {
      state: 'warning',
      message: `lack what was deployed in the last 30 days: ${shortList(outside)}`,
      remedy: 'add it to a fleet in belay.yaml: no freeze or window for a fleet holds it back',
    };
  },
});

const hasScopes = ({ freezes = {}, windows = {} }: Configuration): boolean =>
  [...Object.values(freezes), ...Object.values(windows)].some(
    ({ for: scope }) => scope?.fleets !== undefined || scope?.labels !== undefined,
  );
