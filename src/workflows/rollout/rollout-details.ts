/** What the page of a rollout in the Temporal UI shows about its present. */
import type { RolloutProgress, RolloutResult, TargetResult } from '../../contract/rollout.ts';
import { countOutcomes, isRunning } from '../../contract/results/tally.ts';
import { countsText } from '../../contract/wording/tally-text.ts';
import { factList, uiPage, uiTable, workflowLink } from '../../contract/wording/markdown.ts';
import { codeSpan, plainText } from '../../contract/wording/safe-text.ts';
import { rolloutSentence } from '../../contract/wording/explain-wait.ts';
import { NOTHING } from '../common/ui-details.ts';

const MAX_SERVERS_SHOWN = 30;

export function rolloutDetails({ result, waiting }: RolloutProgress): string {
  const { outcome, phase, error, servers, deployments, decisions } = result;
  const doing = waiting === null ? '' : `: ${rolloutSentence(waiting, (text) => codeSpan(text))}`;
  return uiPage(
    outcome === null ? `**${phase}**${doing}` : `**${outcome}**`,
    error === null ? null : codeSpan(error.message),
    factList({
      Servers: countsText(servers, phase),
      Deployments: countsText(deployments, phase),
      'Latest decision': decisionText(decisions.at(-1)),
      'Decision before': decisionText(decisions.at(-2)),
    }),
    serversTable(result),
  );
}

function decisionText(decision: RolloutResult['decisions'][number] | undefined): string | null {
  if (decision === undefined) return null;
  const { at, action, by, reason } = decision;
  return `${action} by ${codeSpan(by)} at ${at}: ${codeSpan(reason)}`;
}

/** What needs attention comes first. */
function serversTable({ targets }: RolloutResult): string | null {
  const isHeld = ({ heldByEvent, outcome }: TargetResult) => heldByEvent !== null && outcome === null;
  const ordered = [
    ...targets.filter(({ outcome }) => outcome !== null && outcome !== 'completed'),
    ...targets.filter(isHeld),
    ...targets.filter((it) => isRunning(it) && !isHeld(it)),
    ...targets.filter(({ outcome }) => outcome === 'completed').reverse(),
  ];
  const left = targets.length - Math.min(ordered.length, MAX_SERVERS_SHOWN);
  if (ordered.length === 0) return null;
  const rows = ordered.slice(0, MAX_SERVERS_SHOWN).map(serverRow);
  const more = left > 0 ? `\n\nand ${left} more` : '';
  return `${uiTable(['Server', 'Wave', 'State', 'Sites', 'Run'], rows)}${more}`;
}

function serverRow({ serverId, wave, outcome, error, heldByEvent, workflowId, deployments }: TargetResult): string[] {
  const state = outcome ?? (heldByEvent === null ? 'in progress' : `held by ${workflowLink(heldByEvent)}`);
  const counts = countOutcomes(deployments.map((it) => ({ outcome: it.outcome, isRunning: false })));
  return [
    codeSpan(serverId),
    codeSpan(wave),
    `${state}${error === null ? '' : `: ${codeSpan(plainText(error.message, 120))}`}`,
    countsText(counts),
    workflowId === null ? NOTHING : workflowLink(workflowId),
  ];
}
