/** What the page of a rollout in the Temporal UI shows about its present. */
import type { RolloutProgress, RolloutResult, TargetResult } from './shapes.ts';
import { countOutcomes, isRunning } from '../../contract/tally.ts';
import { countsText } from '../../contract/tally-text.ts';
import { factList, uiPage, uiTable, workflowLink } from '../../contract/markdown.ts';
import { heldText } from '../freezes/text.ts';
import { codeSpan, shellWord } from '../../contract/safe-text.ts';
import { rolloutSentence } from '../../contract/explain-wait.ts';
import { checkFirst, endedHeading, MARKDOWN, shortText } from '../../workflows/ui.ts';

const MAX_SERVERS_SHOWN = 30;

export function rolloutDetails(progress: RolloutProgress): string {
  const { phase, error, servers, deployments, decisions } = progress.result;
  return uiPage(
    headingOf(progress),
    error === null ? null : codeSpan(error.message),
    factList({
      Servers: countsText(servers, phase),
      Deployments: countsText(deployments, phase),
      'Latest decision': decisionText(decisions.at(-1)),
      'Decision before': decisionText(decisions.at(-2)),
    }),
    ...progress.result.held.map((it) => heldText(it, codeSpan)),
    serversTable(progress.result),
    commandsOf(progress.result),
  );
}

function headingOf({ result: { outcome, phase, error }, waiting }: RolloutProgress): string {
  if (outcome !== null || phase === 'done') return endedHeading({ outcome, error });
  if (waiting === null) return `**${phase}**`;
  const sentence = rolloutSentence(waiting, MARKDOWN.quote, MARKDOWN.command);
  // That of a paused rollout begins with the phase.
  return waiting.kind !== 'servers' ? sentence.replace(/^paused/, '**paused**') : `**${phase}**: ${sentence}`;
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
  if (ordered.length === 0) return null;
  const rows = ordered.slice(0, MAX_SERVERS_SHOWN).map(serverRow);
  const hidden = ordered.length - rows.length;
  const more = hidden > 0 ? `\n\nand ${hidden} more` : '';
  return `${uiTable(['Server', 'Wave', 'State', 'Deployments'], rows)}${more}`;
}

function serverRow(target: TargetResult): string[] {
  const { serverId, wave, outcome, error, heldByEvent, workflowId, deployments } = target;
  const state = outcome ?? (heldByEvent === null ? 'in progress' : `held by ${workflowLink(heldByEvent)}`);
  const counts = countOutcomes(deployments.map((it) => ({ outcome: it.outcome, isRunning: isRunning(target) })));
  return [
    workflowId === null ? codeSpan(serverId) : workflowLink(workflowId, { label: codeSpan(serverId) }),
    codeSpan(wave),
    `${state}${error === null ? '' : `: ${shortText(error.message)}`}`,
    countsText(counts),
  ];
}

/** What a person can do now. */
function commandsOf({ workflowId, outcome, phase }: RolloutResult): string | null {
  const id = shellWord(workflowId ?? '');
  if (outcome === 'completed') return null;
  if (outcome !== null || phase === 'done')
    return `${checkFirst(outcome)}Start the servers that are not completed again: \`npx belay-deploy rollout retry ${id}\`.`;
  const goOn = phase === 'paused' ? 'Continue' : 'Start no more servers';
  return (
    `${goOn}: \`npx belay-deploy rollout ${phase === 'paused' ? 'resume' : 'pause'} ${id} --reason TEXT\`. ` +
    `End it: \`npx belay-deploy rollout abort ${id} --reason TEXT\`. Wait for its verdict: \`npx belay-deploy wait ${id}\`.`
  );
}
