/** Looks back at the last weeks: were the tries of an operation too few, and does a fleet lack what was deployed? */
import type { OperationAdvice } from './rules.ts';
import { unreadableIn } from './actions.ts';
import { unreadableTexts } from '../../cli/run-text.ts';
import { withBelay } from '../../cli/open-belay.ts';
import { plainText } from '../../contract/safe-text.ts';
import { counted } from '../../contract/results.ts';
import { targetText } from '../../contract/target.ts';
import { adviceOn, shortList, type Check, type Finding } from '../../cli/doctor-check.ts';
import { readConfiguration, type Configuration } from '../../config/load.ts';
import { buildInventory } from '../../config/inventory.ts';

/** Both checks share one question to Temporal. */
export function pastChecks(): Check[] {
  let asked: Promise<OperationAdvice[]> | undefined;
  const look = () => (asked ??= lookBack());
  return [triesCheck(look), fleetsCheck(look)];
}

const triesCheck = (look: typeof lookBack): Check => ({
  name: 'tries',
  run: () => adviceOn(look(), triesFinding),
});

function triesFinding(found: readonly OperationAdvice[]): Finding {
  const unread = unreadableTexts(unreadableIn(found))
    .map((it) => `; ${it}`)
    .join('');
  const tight = found.filter(({ suggestedBudget }) => suggestedBudget !== null);
  if (tight.length > 0) {
    const message = `${shortList(tight.map((one) => `${subjectText(one)}: ${one.advice[0]}`))}${unread}`;
    const remedy = 'see `belay advice`; in belay.yaml, the keys are backup.tries and deploy.tries';
    return { state: 'warning', message, remedy };
  }
  const judged = found.filter(({ budget }) => budget !== null).length;
  if (judged === 0)
    return { state: 'skipped', message: `too few backups and deployments in the last 30 days to tell${unread}` };
  return {
    state: 'ok',
    message: `enough for ${counted(judged, 'server or target', 'servers and targets')} of the last 30 days${unread}`,
  };
}

const lookBack = (): Promise<OperationAdvice[]> => withBelay((belay) => belay.advise());

const subjectText = ({ serverId, target }: OperationAdvice): string =>
  target === null ? `server ${plainText(serverId ?? '')}` : targetText(target, plainText);

/*
 * Checks whether what was deployed lately is in a fleet. A freeze for a fleet does not hold back a target outside of
 * all fleets.
 */

const fleetsCheck = (look: typeof lookBack): Check => ({
  name: 'fleets',
  run: async (): Promise<Finding> => {
    const configuration = await readConfiguration();
    if (!hasScopes(configuration)) return { state: 'skipped', message: 'no freeze and no window is for a fleet' };
    const { placeOf } = buildInventory(configuration.fleets);
    return adviceOn(look(), (found) => {
      const targets = found.flatMap(({ target }) => target ?? []);
      const outside = targets.filter((it) => placeOf(it) === undefined).map((it) => targetText(it, plainText));
      if (outside.length === 0)
        return { state: 'ok', message: 'have everything that was deployed in the last 30 days' };
      return {
        state: 'warning',
        message: `lack what was deployed in the last 30 days: ${shortList(outside)}`,
        remedy: 'add it to a fleet in belay.yaml: no freeze or window for a fleet holds it back',
      };
    });
  },
});

const hasScopes = ({ freezes = {}, windows = {} }: Configuration): boolean =>
  [...Object.values(freezes), ...Object.values(windows)].some(
    ({ for: scope }) => scope?.fleets !== undefined || scope?.labels !== undefined,
  );
