/** What the Temporal UI shows of a rollout while it runs, in Markdown. */
import type { RolloutProgress, TargetResult } from '../../contract/rollout.ts';
import { isRunning, sumText } from '../../contract/results/tally.ts';
import { codeSpan } from '../../contract/wording/safe-text.ts';
import { rolloutSentence } from '../../contract/wording/explain-wait.ts';
import { lines } from '../common/ui-details.ts';

/** The UI takes 20 KB. */
const MAX_SERVERS_SHOWN = 30;

export function rolloutDetails({ result, waiting }: RolloutProgress): string {
  const { targets, decisions } = result;
  const notable = [
    ...targets.filter(({ outcome }) => outcome !== null && outcome !== 'completed'),
    ...targets.filter(({ heldBy, outcome }) => heldBy !== null && outcome === null),
    ...targets.filter(isRunning),
  ];
  const untold = notable.length - MAX_SERVERS_SHOWN;
  return lines(
    `**${result.outcome ?? result.phase}**`,
    result.error === null ? null : codeSpan(result.error.message),
    waiting === null ? null : rolloutSentence(waiting, (text) => codeSpan(text)),
    `Servers: ${sumText(result.servers, result.phase)}`,
    `Deployments: ${sumText(result.deployments, result.phase)}`,
    ...decisions.slice(-3).map(({ at, what, by, why }) => `${at} ${what} by ${codeSpan(by)}: ${codeSpan(why)}`),
    ...notable.slice(0, MAX_SERVERS_SHOWN).map(targetLine),
    untold > 0 ? `and ${untold} more` : null,
  );
}

function targetLine(target: TargetResult): string {
  const { serverId, outcome, error, heldBy } = target;
  const state = outcome ?? (heldBy === null ? 'under way' : `held by ${codeSpan(heldBy)}`);
  return `server ${codeSpan(serverId)}: ${state}${error === null ? '' : `, ${codeSpan(error.message)}`}`;
}
