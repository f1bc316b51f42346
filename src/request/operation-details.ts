/** What the page of an operation shows from its start on. Pure. */
import type { BackupServerInput, DeploySiteInput } from '../contract/operation.ts';
import { durationText } from '../contract/duration.ts';
import { factList, workflowLink } from '../contract/markdown.ts';
import { codeSpan } from '../contract/safe-text.ts';
import { targetText } from '../contract/target-text.ts';
import { detailsPage } from './details-page.ts';
import { triesFact } from './run-details.ts';

interface Parent {
  workflowId: string;
  runId: string;
}

export function operationStaticDetails(input: BackupServerInput | DeploySiteInput, run: Parent): string {
  const isDeployment = 'target' in input;
  const subject = isDeployment ? targetText(input.target, codeSpan) : `server ${codeSpan(input.serverId)}`;
  const what = isDeployment ? `Deploys ${subject}` : `Backs up ${subject}`;
  return detailsPage(
    `${what}, and waits for the verdict. ` +
      `The id of this workflow is also the lock: another run that needs ${subject} waits until this workflow ends.`,
    factList({
      'Part of': `${workflowLink(run.workflowId, { runId: run.runId })}, whose page shows who started it, and why`,
      Service: codeSpan(input.service),
      Budget: triesFact(input),
      ...(isDeployment ? deploymentFacts(input) : {}),
    }),
    'Never terminate or reset it: that frees the lock while the service may still be at work.',
  );
}

function deploymentFacts({ minEvidence, settleMs, baselineWaitMs, deadline, serverId }: DeploySiteInput) {
  const settled = minEvidence === 'settled' ? ` (an unchanged status counts after ${durationText(settleMs)})` : '';
  return {
    'Evidence that it is ours': `at least ${minEvidence}${settled}`,
    "Another party's deployment": `waits for its end for at most ${durationText(baselineWaitMs)}`,
    'Backed up before': serverId === undefined ? null : `server ${codeSpan(serverId)}`,
    'Last start': deadline === null ? null : `${deadline.at}: ${codeSpan(deadline.reason)}`,
  };
}
