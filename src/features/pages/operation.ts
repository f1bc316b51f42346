/** What the page of an operation in the Temporal UI shows about its present. */
import { setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import { waitingSentence } from '../../contract/explain-wait.ts';
import { evidenceLegend, factList, uiPage } from '../../contract/markdown.ts';
import type { OperationPhase, OperationProgress } from '../../contract/operation.ts';
import { counted } from '../../contract/results.ts';
import type { BackupResult, DeploymentResult } from '../../contract/run.ts';
import { codeSpan, shellWord } from '../../contract/safe-text.ts';
import { targetLabel } from '../../contract/target.ts';
import { MARKDOWN, orNothing, readsText } from '../../workflows/ui.ts';
import { readText } from '../site-checks/text.ts';

const DOING: Record<OperationPhase, string> = {
  baseline: 'reads the status from before the request',
  trigger: 'sends the request',
  reconcile: 'looks whether the request took effect, because its answer is in doubt',
  wait: 'the request was accepted; waits for a final status',
  verify: 'the service reports that it completed; checks the site',
  parked: 'waits for the service, which does not answer',
  done: 'done',
};

/** Redraws the page whenever something has changed. */
export const operationPage = (progress: OperationProgress): { changed(): void } => ({
  changed: () => setCurrentDetails(operationDetails(progress, workflowInfo().parent?.workflowId ?? null)),
});

/** @param parentId workflow id of the run that the operation is a part of */
function operationDetails({ phase, result, waiting }: OperationProgress, parentId: string | null): string {
  const { outcome } = result;
  const isDeployment = 'target' in result;
  const what = isDeployment
    ? `Deployment of ${targetLabel(result.target, codeSpan)}`
    : `Backup of ${codeSpan(result.serverId)}`;
  return uiPage(
    `**${what}: ${outcome ?? phase}**`,
    outcome === null
      ? `${DOING[phase]}${waiting === null ? '' : `: ${waitingSentence(waiting, null, MARKDOWN)}`}`
      : null,
    isDeployment && result.error !== null ? codeSpan(result.error.message) : null,
    factList({
      Request: requestText(result),
      Reads: readsText(result.polls, waiting),
      'Last status': orNothing(result.lastStatus, codeSpan),
      'Read at': waiting !== null && 'lastReadAt' in waiting ? orNothing(waiting.lastReadAt) : null,
      Evidence: isDeployment ? (result.evidence ?? 'none yet') : null,
      Check: isDeployment ? checkFacts(result, waiting) : null,
    }),
    isDeployment ? evidenceLegend([result.evidence]) : null,
    outcome === null && parentId !== null
      ? `Stop it: \`npx belay-deploy cancel ${shellWord(parentId)}\`, which cancels its run.`
      : null,
  );
}

function checkFacts({ check }: DeploymentResult, waiting: OperationProgress['waiting']): string | null {
  if (check === undefined || check === null) return null;
  const { name, outcome, reads, goodReads, baseline, last } = check;
  const textOf = (read: typeof last) => (read === null ? null : readText(read));
  // While it waits, it also says which commit it awaits.
  const after = waiting?.kind === 'check' ? waiting.last : textOf(last);
  const shown = (text: string | null) => (text === null ? 'nothing yet' : codeSpan(text));
  return `${codeSpan(name)}: ${outcome ?? 'no outcome yet'}, ${goodReads} of ${counted(reads, 'read')} good; before the request: ${shown(textOf(baseline))}; last: ${shown(after)}`;
}

function requestText({ trigger, acceptedAt }: BackupResult | DeploymentResult): string {
  const { attempts, ambiguous, reconciledBy } = trigger;
  if (attempts === 0) return 'not sent yet';
  const doubt = ambiguous ? `, in doubt, resolved by: ${reconciledBy ?? 'nothing yet'}` : '';
  return `sent ${attempts === 1 ? 'once' : `${attempts} times`}${acceptedAt === null ? '' : `, accepted ${acceptedAt}`}${doubt}`;
}
