/** Markdown that the Temporal UI shows for a running workflow. Text from outside is put in code spans. */
import type { BackupResult, DeploymentResult, RunProgress, RunResult } from '../../contract/run.ts';
import type { EventInput, EventResult } from '../../contract/event.ts';
import { eventSubjects } from '../../contract/wording/event-subjects.ts';
import { codeSpan } from '../../contract/wording/safe-text.ts';
import { inFlight, waitingSentence, type Style } from '../../contract/wording/explain-wait.ts';
import type { OperationProgress } from '../../contract/operation.ts';
import { targetLabel } from '../../contract/wording/target-text.ts';

const MARKDOWN: Style = { quote: (text) => codeSpan(text), when: (at) => `at ${at}` };

export function operationDetails({ phase, result, waiting }: OperationProgress): string {
  const what =
    'target' in result
      ? `Deployment of ${targetLabel(result.target, codeSpan)}`
      : `Backup of ${codeSpan(result.serverId)}`;
  return lines(
    `**${what}**: ${result.outcome ?? phase}`,
    waiting === null ? null : waitingSentence(waiting, null, MARKDOWN),
    'target' in result ? evidenceLine(result) : null,
    triggerLine(result),
  );
}

export function runDetails({ result, waiting, operation }: RunProgress): string {
  return lines(
    `**${result.outcome ?? result.phase}**`,
    result.error === null ? null : codeSpan(result.error.message),
    waiting === null ? null : waitingSentence(waiting, inFlight(result, codeSpan), MARKDOWN),
    operation === null ? null : `In flight: ${codeSpan(operation.workflowId)} (see its details for the tries)`,
    ...partLines(result),
  );
}

export function eventDetails({ event, source, verified }: EventInput, result: EventResult): string {
  const ids = eventSubjects(event, codeSpan);
  return lines(
    `**${event.kind}** from ${codeSpan(source)}${verified ? '' : ', not verified'}`,
    event.rawKind === null ? null : `Kind as sent: ${codeSpan(event.rawKind)}`,
    ids.length === 0 ? 'Names no server, site or backup' : `Names ${ids.join(', ')}`,
    result.otherThan === undefined
      ? null
      : `Of another service than ${codeSpan(result.otherThan)}, which the workers serve, so it has no effect`,
    result.late === true ? 'Handled too late to wake, hold or share anything' : null,
    ...result.woken.map((id) => `Woken to read now: ${codeSpan(id)}`),
    ...(result.held ?? []).map((id) => `Rollout that holds this server: ${codeSpan(id)}`),
    result.shared ? 'The next run that needs a backup of this server may use this one' : null,
    result.notified.length === 0 ? null : `Notified: ${result.notified.map((it) => codeSpan(it)).join(', ')}`,
  );
}

function partLines({ backup, deployments }: RunResult): string[] {
  const made = backup === null ? [] : [partLine(`backup ${codeSpan(backup.serverId)}`, backup)];
  return [
    ...made,
    ...deployments.slice(0, 50).map((part) => partLine(`deploy ${targetLabel(part.target, codeSpan)}`, part)),
  ];
}

function partLine(name: string, { outcome, lastStatus, polls }: BackupResult | DeploymentResult): string {
  const last = lastStatus === null ? '' : `, last status ${codeSpan(lastStatus)} of ${polls} polls`;
  return `${name}: ${outcome ?? 'not finished'}${last}`;
}

function evidenceLine({ evidence }: DeploymentResult): string {
  return `Evidence that it is ours: ${evidence ?? 'none yet'}`;
}

function triggerLine({ trigger }: BackupResult | DeploymentResult): string | null {
  if (trigger.attempts === 0) return null;
  const ambiguity = trigger.ambiguous ? `, ambiguous, reconciled by: ${trigger.reconciledBy ?? 'nothing yet'}` : '';
  return `Trigger: ${trigger.attempts} sent${ambiguity}`;
}

/** Hard line breaks, because the UI shows few lines at once and a paragraph takes two. */
export function lines(...parts: (string | null)[]): string {
  return parts.filter((part) => part !== null).join('  \n');
}
