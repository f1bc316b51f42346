/** Formats a notification as text for Slack. Text from outside is escaped, so that it mentions no user. Pure. */
import { targetLabel } from '../../contract/wording/target-text.ts';
import type { RunResult } from '../../contract/run.ts';
import type { Notification } from '../../contract/notification.ts';
import type { RolloutResult } from '../../contract/rollout.ts';
import { eventSubjects } from '../../contract/wording/event-subjects.ts';
import { countsText } from '../../contract/wording/tally-text.ts';
import { heldIn, heldText } from '../../contract/wording/freeze-text.ts';
import { plainText } from '../../contract/wording/safe-text.ts';

const MAX_PARTS = 10;

export function textOf(notification: Notification): string {
  if (notification.kind === 'event') return eventText(notification);
  if (notification.kind === 'approval') return approvalText(notification);
  const { leftOut } = notification;
  return notification.kind === 'run' ? runText(notification.result, leftOut) : rolloutText(notification.result);
}

function eventText(notification: Extract<Notification, { kind: 'event' }>): string {
  const { event, source, verified, receivedAt, late, otherThan } = notification;
  const ids = eventSubjects(event, outside).join(', ') || 'no server, site or backup';
  const rawKind = event.rawKind === null || event.rawKind === event.kind ? '' : ` ("${outside(event.rawKind)}")`;
  const notes = [
    ...(verified ? [] : ['not verified']),
    ...(late === true ? [`too late to act on (received ${receivedAt})`] : []),
    ...(otherThan === undefined ? [] : [`of another service than ${outside(otherThan)}`]),
  ];
  return [`${event.kind}${rawKind}: ${ids}`, `from ${outside(source)}`, ...notes].join(', ');
}

function runText(result: RunResult, leftOut: number): string {
  const { outcome, error, workflowId, backup, deployments, links } = result;
  const overridden = heldIn(result).filter(({ end }) => end === 'overridden');
  const head = `${outcome ?? error?.type ?? 'Internal'}: ${outside(workflowId ?? '')}`;
  const parts = [
    ...overridden.map((it) => heldText(it, outside)),
    ...(backup === null ? [] : [`backup of ${outside(backup.serverId)}: ${backup.outcome ?? 'not finished'}`]),
    ...deployments.map((it) => `deployment of ${targetLabel(it.target, outside)}: ${it.outcome ?? 'not finished'}`),
  ];
  return message({ head, reason: error?.message, parts, leftOut, link: links.ui });
}

function rolloutText(result: RolloutResult): string {
  const { outcome, phase, error, workflowId, targets, servers, links, decisions } = result;
  const head = `${outcome ?? (phase === 'done' ? 'Internal' : phase)}: ${outside(workflowId ?? '')}: ${countsText(servers)}`;
  const last = outcome === null ? decisions.at(-1) : undefined;
  const reason = error?.message ?? (last === undefined ? undefined : `${last.by}: ${last.reason}`);
  const parts = targets
    .filter((it) => it.outcome !== null && it.outcome !== 'completed')
    .map((it) => `server ${outside(it.serverId)}: ${it.outcome}`);
  return message({ head, reason, parts, leftOut: 0, link: links.ui });
}

function approvalText({ sentence, text, links }: Extract<Notification, { kind: 'approval' }>): string {
  const parts = text.split('\n').filter((line) => line !== '');
  return message({ head: outside(sentence), reason: undefined, parts: parts.map(outside), leftOut: 0, link: links.ui });
}

interface Message {
  head: string;
  reason: string | undefined;
  parts: string[];
  /** The number of parts that are not in `parts`. */
  leftOut: number;
  link: string | null;
}

function message({ head, reason, parts, leftOut, link }: Message): string {
  const hidden = Math.max(0, parts.length - MAX_PARTS) + leftOut;
  const more = hidden > 0 ? [`and ${hidden} more`] : [];
  const reasons = reason === undefined ? [] : [outside(reason)];
  return [head, ...reasons, ...parts.slice(0, MAX_PARTS), ...more, ...(link === null ? [] : [link])].join('\n');
}

/**
 * Escapes Slack's three control characters, so that `<!channel>` is plain text. A zero-width space breaks the mentions
 * and links of chats that take Markdown.
 */
function outside(text: string): string {
  const escaped = plainText(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return escaped.replace(/@|\](?=\()/g, (it) => (it === '@' ? `@${ZERO_WIDTH}` : `${it}${ZERO_WIDTH}`));
}

const ZERO_WIDTH = '\u200b';
