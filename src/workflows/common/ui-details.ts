/** What the Temporal UI shows of a workflow while it runs, in Markdown. Text from outside stands in code spans. */
import type { BackupResult, DeploymentResult, OperationProgress, RunProgress, RunResult } from '../../contract/run.ts';
import type { EventInput, EventResult } from '../../contract/event.ts';
import { namesIn } from '../../contract/wording/event-subjects.ts';
import { codeSpan } from '../../contract/wording/safe-text.ts';
import { inFlight, waitingSentence, type Style } from '../../contract/wording/explain-wait.ts';

const MARKDOWN: Style = { quote: (text) => codeSpan(text), when: (at) => `at ${at}` };

export function operationDetails({ phase, result, waiting }: OperationProgress): string {
  const what =
    'siteId' in result ? `Deployment of ${codeSpan(result.siteId)}` : `Backup of ${codeSpan(result.serverId)}`;
  return lines(
    `**${what}**: ${result.outcome ?? phase}`,
    waiting === null ? null : waitingSentence(waiting, null, MARKDOWN),
    'siteId' in result ? evidenceLine(result) : null,
    triggerLine(result),
  );
}

export function runDetails({ result, waiting, operation }: RunProgress): string {
  return lines(
    `**${result.outcome ?? result.phase}**`,
    result.error === null ? null : codeSpan(result.error.message),
    waiting === null ? null : waitingSentence(waiting, inFlight(result, codeSpan), MARKDOWN),
    operation === null ? null : `In flight: ${codeSpan(operation.workflowId)}, whose details tell the tries`,
    ...partLines(result),
  );
}

export function eventDetails({ event, source, verified }: EventInput, result: EventResult): string {
  const ids = namesIn(event, codeSpan);
  return lines(
    `**${event.kind}** from ${codeSpan(source)}${verified ? '' : ', not verified'}`,
    event.said === null ? null : `In the sender's words: ${codeSpan(event.said)}`,
    ids.length === 0 ? 'It names nothing we know' : `It names ${ids.join(', ')}`,
    ...result.woken.map((id) => `Told to read now: ${codeSpan(id)}`),
    ...(result.held ?? []).map((id) => `Does not begin with this server now: ${codeSpan(id)}`),
    result.shared ? 'The next run that needs this backup may rest on it' : null,
    result.notified.length === 0 ? null : `Notified: ${result.notified.map((it) => codeSpan(it)).join(', ')}`,
  );
}

function partLines({ backup, deployments }: RunResult): string[] {
  const made = backup === null ? [] : [partLine(`backup ${codeSpan(backup.serverId)}`, backup)];
  return [...made, ...deployments.slice(0, 50).map((part) => partLine(`deploy ${codeSpan(part.siteId)}`, part))];
}

function partLine(name: string, { outcome, lastStatus, polls }: BackupResult | DeploymentResult): string {
  const last = lastStatus === null ? '' : `, last status ${codeSpan(lastStatus)} of ${polls} polls`;
  return `${name}: ${outcome ?? 'not ended'}${last}`;
}

function evidenceLine({ evidence }: DeploymentResult): string {
  return `Evidence that it is ours: ${evidence ?? 'none yet'}`;
}

function triggerLine({ trigger }: BackupResult | DeploymentResult): string | null {
  if (trigger.attempts === 0) return null;
  const doubt = trigger.ambiguous ? `, ambiguous, settled by: ${trigger.reconciledBy ?? 'nothing yet'}` : '';
  return `Trigger: ${trigger.attempts} sent${doubt}`;
}

/** Hard line breaks: the UI shows few lines at once, and paragraphs would take two each. */
export function lines(...parts: (string | null)[]): string {
  return parts.filter((part) => part !== null).join('  \n');
}
