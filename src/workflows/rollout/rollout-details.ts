/** Markdown that the Temporal UI shows for a running rollout. */
import type { RolloutProgress, TargetResult } from '../../contract/rollout.ts';
import { isRunning } from '../../contract/results/tally.ts';
import { countsText } from '../../contract/wording/tally-text.ts';
import { codeSpan } from '../../contract/wording/safe-text.ts';
import { rolloutSentence } from '../../contract/wording/explain-wait.ts';
import { lines } from '../common/ui-details.ts';

/** The UI accepts 20 KB. */
const MAX_SERVERS_SHOWN = 30;

export function rolloutDetails({ result, waiting }: RolloutProgress): string {
  const { targets, decisions } = result;
  const notable = [
    ...targets.filter(({ outcome }) => outcome !== null && outcome !== 'completed'),
    ...targets.filter(({ heldByEvent, outcome }) => heldByEvent !== null && outcome === null),
    ...targets.filter(isRunning),
  ];
  const hidden = notable.length - MAX_SERVERS_SHOWN;
  return lines(
    `**${result.outcome ?? result.phase}**`,
    result.error === null ? null : codeSpan(result.error.message),
    waiting === null ? null : rolloutSentence(waiting, (text) => codeSpan(text)),
    `Servers: ${countsText(result.servers, result.phase)}`,
    `Deployments: ${countsText(result.deployments, result.phase)}`,
    ...decisions
      .slice(-3)
      .map(({ at, action, by, reason }) => `${at} ${action} by ${codeSpan(by)}: ${codeSpan(reason)}`),
    ...notable.slice(0, MAX_SERVERS_SHOWN).map(targetLine),
    hidden > 0 ? `and ${hidden} more` : null,
  );
}

function targetLine(target: TargetResult): string {
  const { serverId, outcome, error, heldByEvent } = target;
  const state = outcome ?? (heldByEvent === null ? 'in progress' : `held by ${codeSpan(heldByEvent)}`);
  return `server ${codeSpan(serverId)}: ${state}${error === null ? '' : `, ${codeSpan(error.message)}`}`;
}
