/** What the page of a run in the Temporal UI shows about its present. */
import { setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { Execution } from '../../contract/operation.ts';
import type { Observer } from '../../workflows/run/hooks.ts';
import type { RunState } from '../../workflows/run/run-state.ts';
import { backupServerId, lockIdOf, ROLLOUT_PREFIX } from '../../contract/ids.ts';
import type { BackupResult, BackupSource, DeploymentResult, RunProgress } from '../../contract/run.ts';
import { evidenceLegend, uiPage, uiTable, workflowLink } from '../../contract/markdown.ts';
import { nameOfPartInFlight, partInFlight, waitingSentence } from '../../contract/explain-wait.ts';
import { heldText } from '../freezes/text.ts';
import { codeSpan, shellWord } from '../../contract/safe-text.ts';
import { targetText } from '../../contract/target.ts';
import {
  checkServiceFirst,
  endedHeading,
  MARKDOWN,
  NO_BREAK,
  NOTHING,
  orNothing,
  readsText,
  shortText,
} from '../../workflows/ui.ts';

const SOURCES: Record<BackupSource, string> = {
  created: 'made by this run',
  shared: 'shared with another run',
  reused: 'from an earlier run',
  given: 'named by its id',
};

const MAX_PARTS_SHOWN = 50;

/** Redraws the page whenever something has changed. */
export const runPage = ({ progress, operations }: RunState): Observer => ({
  changed: () => setCurrentDetails(runDetails(progress, operations, workflowInfo().parent?.workflowId ?? null)),
});

/** @param parentId workflow id of the rollout or schedule that started the run, or null */
function runDetails(progress: RunProgress, operations: readonly Execution[], parentId: string | null): string {
  const { result, waiting } = progress;
  const { phase, error, backup, deployments } = result;
  const current = partInFlight(result);
  const rows = [
    ...(backup === null ? [] : [backupRow(backup)]),
    ...deployments.slice(0, MAX_PARTS_SHOWN).map(deploymentRow),
  ];
  const hidden = deployments.length - MAX_PARTS_SHOWN;
  return uiPage(
    headingOf(progress),
    error === null ? null : codeSpan(error.message),
    ...result.held.map((it) => heldText(it, codeSpan)),
    rows.length === 0 ? null : uiTable(['Part', 'Reads', 'Last status', 'Evidence', 'State'], rows),
    hidden > 0 ? `and ${hidden} more` : null,
    evidenceLegend(deployments.map(({ evidence }) => evidence)),
    commandsOf(result, parentId),
  );

  function backupRow(part: BackupResult): string[] {
    const id = part.backupId === null ? '' : `, id ${codeSpan(part.backupId)}`;
    const source = part.source === null ? '' : `, ${SOURCES[part.source]}`;
    const label = `backup${NO_BREAK}${codeSpan(part.serverId)}`;
    return row(part, { label, lockId: backupServerId(part.serverId), evidence: NOTHING, more: `${id}${source}` });
  }

  function deploymentRow(part: DeploymentResult): string[] {
    const label = targetText(part.target, codeSpan).replace(' ', NO_BREAK);
    const why = part.error?.message;
    // The page shows the error of the run above the table.
    const more = why === undefined || why === error?.message ? '' : `: ${shortText(why)}`;
    return row(part, { label, lockId: lockIdOf(part.target), evidence: orNothing(part.evidence), more });
  }

  /** A part that the run started links to its page. */
  function row(
    part: BackupResult | DeploymentResult,
    { label, lockId, evidence, more }: { label: string; lockId: string; evidence: string; more: string },
  ): string[] {
    const { outcome: ended, polls, lastStatus } = part;
    const started = operations.findLast(({ workflowId }) => workflowId === lockId);
    const isInFlight = ended === null && part === current;
    const isElsewhere = isInFlight && progress.operation !== null;
    return [
      started === undefined ? label : workflowLink(lockId, { runId: started.runId, label }),
      isElsewhere ? 'on its page' : readsText(polls, isInFlight ? waiting : null),
      orNothing(lastStatus, codeSpan),
      evidence,
      `${ended ?? (isInFlight ? stateIn(phase) : 'not begun')}${more}`,
    ];
  }
}

const WAITS: readonly RunProgress['result']['phase'][] = ['queued', 'parked', 'frozen'];

/** Returns the state of the part in flight. The service is at work on it, unless the run waits before or in it. */
const stateIn = (phase: RunProgress['result']['phase']): string =>
  phase !== null && WAITS.includes(phase) ? phase : 'in progress';

function headingOf(progress: RunProgress): string {
  const { outcome, phase } = progress.result;
  return outcome !== null || phase === 'done' ? endedHeading(progress.result) : `**${phase}**: ${doingOf(progress)}`;
}

function doingOf({ result, waiting, operation }: RunProgress): string {
  const what = nameOfPartInFlight(result, codeSpan);
  if (waiting !== null) return waitingSentence(waiting, what, MARKDOWN);
  if (what === null) return 'checking the worker, the service and the targets';
  if (operation === null) return `${what} in progress`;
  const page = workflowLink(operation.workflowId, { runId: operation.runId, label: 'its page' });
  return `${what} in progress; ${page} shows each try and the last status`;
}

/** Offers only what a person can do now, because a page must not offer to stop a run that has ended. */
function commandsOf(
  { workflowId, outcome, phase, backup, deployments }: RunProgress['result'],
  parentId: string | null,
): string | null {
  const id = shellWord(workflowId ?? '');
  if (outcome === 'completed') return null;
  if (outcome === null && phase !== 'done')
    return `Wait for its verdict: \`npx belay-deploy wait ${id}\`. Stop it: \`npx belay-deploy cancel ${id}\`.`;
  const parts = backup === null ? deployments : [backup, ...deployments];
  return `${checkServiceFirst(outcome, parts)}Start it again: ${againText(parentId)}`;
}

function againText(parentId: string | null): string {
  if (parentId === null) return 'repeat its command. If that has a key, add `--again`.';
  if (parentId.startsWith(ROLLOUT_PREFIX))
    return `\`npx belay-deploy rollout retry ${shellWord(parentId)}\`, once its rollout has ended.`;
  return '`npx belay-deploy schedule trigger` with the id of its schedule, which `npx belay-deploy schedule list` shows.';
}
