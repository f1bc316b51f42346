/** Details that the page of a run shows from its start: who asked for what, where, and within which limits. Pure. */
import type { FreezeOverride } from '../features/freezes/shapes.ts';
import type { CheckWaiver } from '../features/site-checks/shapes.ts';
import type { RunType } from '../contract/names.ts';
import type { RunInput, RunPlan } from '../contract/run.ts';
import { backupServerId, lockIdOf } from '../contract/ids.ts';
import { targetsOf, type Target, targetText } from '../contract/target.ts';
import { durationText, totalText } from '../contract/duration.ts';
import { detailsPage, factList, historyLink, listStart, workflowLink } from '../contract/markdown.ts';
import { codeSpan } from '../contract/safe-text.ts';
import { counted } from '../contract/results.ts';
import { planRun } from './run-options.ts';
import type { BackupServerInput, DeploySiteInput, Execution } from '../contract/operation.ts';

export interface RunToStart {
  type: RunType;
  /** Markdown. */
  startedBy: string;
}

export function runStaticDetails(input: RunInput, { type, startedBy }: RunToStart): string {
  const targets = targetsOf(input);
  const follows = type === 'watchDeployment';
  const plan = planRun(input);
  return detailsPage(
    doingOf(type, input),
    factList(
      {
        'Started by': startedBy,
        Service: serviceFact(input.service),
        'In this order': targets.length > 1 ? listStart(targets.map(shown)) : null,
        ...budgetFacts(plan, { backsUp: isBackedUp(type), deploys: targets.length > 0 }),
        'Last start': lastStartOf(input),
        Override: overrideFact(input.override),
        Checks: waiverFact(input.noCheck),
      },
      input.meta,
    ),
    follows ? null : `Its operations, each with the earlier ones of the same target: ${operationsOf(type, input)}`,
    follows ? null : 'Never terminate or reset it: its outcome would be unknown.',
  );
}

function doingOf(type: RunType, input: RunInput): string {
  const targets = targetsOf(input);
  const [first] = targets;
  const what =
    targets.length === 1 && first !== undefined ? shown(first) : `${targets.length} targets, one after another`;
  const server = `server ${codeSpan(input.serverId ?? '')}`;
  switch (type) {
    case 'backupThenDeploy':
      return `Backs up ${server}, waits until the backup is completed, then deploys ${what}, and waits for the verdict.`;
    case 'backupOnly':
      return `Backs up ${server}, and waits until the backup is completed.`;
    case 'deployOnly':
      return `Deploys ${what}, and waits for the verdict. It makes no backup.`;
    case 'watchDeployment':
      return `Follows a deployment of ${what} that something else starts, and sends no request to deploy.`;
  }
}

const isBackedUp = (type: RunType): boolean => type === 'backupThenDeploy' || type === 'backupOnly';
const shown = (target: Target): string => targetText(target, codeSpan);

export const serviceFact = (service: string | undefined): string =>
  service === undefined ? 'that of its worker' : codeSpan(service);

/** @param parts tells which parts the run has */
export function budgetFacts(
  { backup, deploy, ifBusy, busyTimeoutMs, outageBudgetMs }: RunPlan,
  parts: { backsUp: boolean; deploys: boolean },
): Record<string, string | null> {
  const { backupId, maxAgeMs } = backup;
  const reused = maxAgeMs === null ? '' : `, or a completed one that began at most ${durationText(maxAgeMs)} ago`;
  const given = backupId === null ? '' : `the existing one ${codeSpan(backupId)}, `;
  return {
    Backup: parts.backsUp ? `${given}${triesFact(backup)}${reused}` : null,
    'Each deployment': parts.deploys ? `${triesFact(deploy)}, evidence at least ${deploy.minEvidence}` : null,
    'If another run is at work': ifBusy === 'fail' ? 'fails' : `waits for at most ${durationText(busyTimeoutMs)}`,
    'If the service does not answer':
      outageBudgetMs === null ? null : `waits for at most ${durationText(outageBudgetMs)}`,
  };
}

/** `at most 30 tries, one every 10s: 5m in all` */
export const triesFact = ({ tries, intervalMs }: { tries: number; intervalMs: number }): string =>
  `at most ${counted(tries, 'try', 'tries')}, one every ${durationText(intervalMs)}: ${totalText(tries * intervalMs)} in all`;

/** `christmas`, by `ana` because `CVE` */
export function overrideFact(override: FreezeOverride | undefined): string | null {
  if (override === undefined) return null;
  return `${override.freezes.map((it) => codeSpan(it)).join(', ')},${byWhomAndWhy(override)}`;
}

/** `none, by `ana` because `CVE`` */
export const waiverFact = (waiver: CheckWaiver | undefined): string | null =>
  waiver === undefined ? null : `none,${byWhomAndWhy(waiver)}`;

const byWhomAndWhy = ({ by, reason }: CheckWaiver): string =>
  `${by === undefined ? '' : ` by ${codeSpan(by)}`} because ${codeSpan(reason)}`;

function lastStartOf({ startDeploysWithinMs, deploysUntil }: RunInput): string | null {
  const limits = [
    startDeploysWithinMs === undefined ? [] : `${durationText(startDeploysWithinMs)} after the run started`,
    deploysUntil === undefined ? [] : `${codeSpan(deploysUntil.time)} in ${codeSpan(deploysUntil.timeZone)}`,
  ].flat();
  return limits.length === 0 ? null : `no deployment begins later than ${limits.join(', or than ')}`;
}

function operationsOf(type: RunType, input: RunInput): string {
  const backup = isBackedUp(type) && input.serverId !== undefined ? [backupServerId(input.serverId)] : [];
  return listStart([...backup, ...targetsOf(input).map(lockIdOf)].map(historyLink), 10);
}

/* Details that the page of an operation shows from its start. Pure. */

export function operationStaticDetails(input: BackupServerInput | DeploySiteInput, run: Execution): string {
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
