/** Formats a notification as text for a chat. Text from outside is escaped, so that it mentions no user. Pure. */
import { targetLabel } from '../../contract/target-text.ts';
import type { ApprovalNotice, Notification } from './shapes.ts';
import type { RolloutResult } from '../rollouts/shapes.ts';
import { eventSubjects } from '../events/event-subjects.ts';
import { countsText } from '../../contract/tally-text.ts';
import { heldIn, heldText } from '../freezes/text.ts';
import { shellWord } from '../../contract/safe-text.ts';
import { slackText, type Escape } from './escapes.ts';

const MAX_PARTS = 10;

type EndOf<K extends 'run' | 'rollout'> = Extract<Notification, { kind: K }>;

/** @param outside makes text from outside safe to show. Default: for Slack */
export const textOf = (notification: Notification, outside: Escape = slackText): string =>
  linesOf(notification, outside).join('\n');

/** The last line is the link, if there is one. */
export function linesOf(notification: Notification, outside: Escape): string[] {
  if (notification.kind === 'event') return [eventText(notification, outside)];
  if (notification.kind === 'approval') return approvalText(notification, outside);
  return notification.kind === 'run' ? runText(notification, outside) : rolloutText(notification, outside);
}

function eventText(notification: Extract<Notification, { kind: 'event' }>, outside: Escape): string {
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

function runText({ result, leftOut, pausesSchedule }: EndOf<'run'>, outside: Escape): string[] {
  const { outcome, error, workflowId, backup, deployments, links } = result;
  const overridden = heldIn(result).filter(({ end }) => end === 'overridden');
  const head = `${outcome ?? error?.type ?? 'Internal'}: ${outside(workflowId ?? '')}`;
  const parts = [
    ...overridden.map((it) => heldText(it, outside)),
    ...(backup === null ? [] : [`backup of ${outside(backup.serverId)}: ${backup.outcome ?? 'not finished'}`]),
    ...deployments.map((it) => `deployment of ${targetLabel(it.target, outside)}: ${it.outcome ?? 'not finished'}`),
  ];
  const commands = pausedSchedule(pausesSchedule, outside);
  return message({ head, reason: error?.message, parts, leftOut, link: links.ui, commands }, outside);
}

function rolloutText({ result, pausesSchedule }: EndOf<'rollout'>, outside: Escape): string[] {
  const { outcome, phase, error, workflowId, targets, servers, links, decisions } = result;
  const head = `${outcome ?? (phase === 'done' ? 'Internal' : phase)}: ${outside(workflowId ?? '')}: servers: ${countsText(servers)}`;
  const last = outcome === null ? decisions.at(-1) : undefined;
  const reason = error?.message ?? (last === undefined ? undefined : `${last.by}: ${last.reason}`);
  const parts = targets
    .filter((it) => it.outcome !== null && it.outcome !== 'completed')
    .map((it) => `server ${outside(it.serverId)}: ${it.outcome}`);
  const commands = [...commandsFor(result, outside), ...pausedSchedule(pausesSchedule, outside)];
  return message({ head, reason, parts, leftOut: 0, link: links.ui, commands }, outside);
}

const pausedSchedule = (id: string | undefined, outside: Escape): string[] =>
  id === undefined
    ? []
    : [`this pauses its schedule; resume it: npx belay-deploy schedule resume ${outside(shellWord(id))}`];

/** What a person may do now. */
function commandsFor({ outcome, phase, workflowId }: RolloutResult, outside: Escape): string[] {
  if (workflowId === null || outcome === 'completed') return [];
  const command = (name: string) => `${name}: npx belay-deploy rollout ${name} ${outside(shellWord(workflowId))}`;
  if (phase === 'paused') return ['resume', 'abort'].map((name) => `${command(name)} --reason TEXT`);
  return outcome === null ? [] : [command('retry')];
}

function approvalText({ sentence, text, links }: ApprovalNotice, outside: Escape): string[] {
  const lines = text.split('\n').filter((line) => line !== '');
  return [sentence, ...lines].map(outside).concat(links.ui ?? []);
}

interface Message {
  head: string;
  reason: string | undefined;
  parts: string[];
  /** The number of parts that are not in `parts`. */
  leftOut: number;
  link: string | null;
  commands?: readonly string[];
}

function message({ head, reason, parts, leftOut, link, commands = [] }: Message, outside: Escape): string[] {
  const hidden = Math.max(0, parts.length - MAX_PARTS) + leftOut;
  const more = hidden > 0 ? [`and ${hidden} more`] : [];
  const reasons = reason === undefined ? [] : [outside(reason)];
  return [head, ...reasons, ...parts.slice(0, MAX_PARTS), ...more, ...commands, ...(link === null ? [] : [link])];
}
