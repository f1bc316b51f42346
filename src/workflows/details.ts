/** What the Temporal UI shows of a workflow while it runs, in Markdown. Text from outside stands in code spans. */
import type {
  BackupResult,
  DeploymentResult,
  OperationProgress,
  RunProgress,
  RunResult,
  Waiting,
} from '../contract.ts';
import type { EventInput, EventResult } from '../event-contract.ts';
import { namesIn } from '../event-names.ts';
import { codeSpan } from '../text.ts';

export function operationDetails({ phase, result, waiting }: OperationProgress): string {
  const what =
    'siteId' in result ? `Deployment of ${codeSpan(result.siteId)}` : `Backup of ${codeSpan(result.serverId)}`;
  return lines(
    `**${what}**: ${result.outcome ?? phase}`,
    waiting === null ? null : waitingLine(waiting),
    'siteId' in result ? evidenceLine(result) : null,
    triggerLine(result),
  );
}

export function runDetails({ result, waiting, operation }: RunProgress): string {
  return lines(
    `**${result.outcome ?? result.phase}**`,
    result.error === null ? null : codeSpan(result.error.message),
    waiting === null ? null : waitingLine(waiting),
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

function waitingLine(waiting: Waiting): string {
  if (waiting.for === 'lock') {
    return `Waiting for ${codeSpan(waiting.lockId)}, held by another run, since ${waiting.since}`;
  }
  const last = waiting.lastStatus === null ? 'nothing read yet' : `last status ${codeSpan(waiting.lastStatus)}`;
  const when = waiting.lastReadAt === null ? '' : ` at ${waiting.lastReadAt}`;
  return `Waiting for ${WHAT[waiting.for]}: try ${waiting.try} of ${waiting.tries}, ${last}${when}, next read at ${waiting.nextReadAt}`;
}

const WHAT = {
  backup: 'the backup to complete',
  deployment: 'the verdict',
  baseline: "somebody else's deployment to end",
  trace: 'a trace of our deployment',
} as const;

function evidenceLine({ evidence }: DeploymentResult): string {
  return `Evidence that it is ours: ${evidence ?? 'none yet'}`;
}

function triggerLine({ trigger }: BackupResult | DeploymentResult): string | null {
  if (trigger.attempts === 0) return null;
  const doubt = trigger.ambiguous ? `, ambiguous, settled by: ${trigger.reconciledBy ?? 'nothing yet'}` : '';
  return `Trigger: ${trigger.attempts} sent${doubt}`;
}

/** Hard line breaks: the UI shows few lines at once, and paragraphs would take two each. */
function lines(...parts: (string | null)[]): string {
  return parts.filter((part) => part !== null).join('  \n');
}
