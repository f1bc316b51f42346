/** Builds the request that carries a notification, for each kind of channel. Pure. */
import { Webhook } from 'standardwebhooks';
import type { Notification, ApprovalNotice } from './shapes.ts';
import { targetLabel } from '../../contract/target.ts';
import type { RolloutResult } from '../rollouts/shapes.ts';
import { eventSubjects } from '../events/shapes.ts';
import { countsText } from '../../contract/results.ts';
import { heldIn, heldText } from '../freezes/text.ts';
import { shellWord, plainText } from '../../contract/safe-text.ts';
import { withOwnCommand } from '../../process/own-command.ts';

export type ChannelKind = 'slack' | 'teams' | 'discord' | 'webhook';

export interface ChannelRequest {
  address: string;
  headers: Record<string, string>;
  body: string;
}

interface Given {
  kind: ChannelKind;
  address: string;
  /** Signs the body for a webhook. Null for other kinds. */
  secret: string | null;
  nowMs: number;
}

export function channelRequest(notification: Notification, { kind, address, secret, nowMs }: Given): ChannelRequest {
  const body = JSON.stringify(contentOf(kind, notification));
  const headers = { 'content-type': 'application/json', 'idempotency-key': notification.id };
  const signed = secret === null ? {} : signature(notification.id, body, secret, nowMs);
  return { address: kind === 'discord' ? awaited(address) : address, headers: { ...headers, ...signed }, body };
}

function contentOf(kind: ChannelKind, notification: Notification): object {
  if (kind === 'discord') return discordMessage(notification);
  if (kind === 'teams') return teamsMessage(notification);
  return { ...notification, text: textOf(notification) };
}

/** Without `wait`, Discord answers before it has stored the message, and reports no failure. */
function awaited(address: string): string {
  const url = new URL(address);
  url.searchParams.set('wait', 'true');
  return url.href;
}

const DISCORD_CHARACTERS = 2_000;

function discordMessage(notification: Notification): object {
  const content = fitting(linesOf(notification, discordText), DISCORD_CHARACTERS);
  return { content, allowed_mentions: { parse: [] } };
}

/** Leaves out whole lines, so that no escape is cut in two. It keeps the last line, which may be the link. */
function fitting(lines: readonly string[], maxLength: number): string {
  const textWith = (count: number) => [...lines.slice(0, count), '…', lines.at(-1) ?? ''].join('\n');
  const whole = lines.join('\n');
  if (whole.length <= maxLength) return whole;
  const count = [...lines.keys()].findLast((it) => textWith(it).length <= maxLength);
  return count === undefined ? '…' : textWith(count);
}

const CARD_SCHEMA = 'http://adaptivecards.io/schemas/adaptive-card.json';
const CARD_TYPE = 'application/vnd.microsoft.card.adaptive';

/** Writes text as runs, which Teams does not read as Markdown. */
function teamsMessage(notification: Notification): object {
  const url = notification.kind === 'event' ? null : linkOf(notification);
  const lines = linesOf(notification, cardText).filter((line) => line !== url);
  const body = lines.map((text, index) => ({
    type: 'RichTextBlock',
    inlines: [{ type: 'TextRun', text, ...(index === 0 ? { weight: 'Bolder' } : {}) }],
  }));
  const actions = url === null ? {} : { actions: [{ type: 'Action.OpenUrl', title: 'Open in Temporal', url }] };
  const content = { $schema: CARD_SCHEMA, type: 'AdaptiveCard', version: '1.4', body, ...actions };
  return { type: 'message', attachments: [{ contentType: CARD_TYPE, contentUrl: null, content }] };
}

const linkOf = (notification: Exclude<Notification, { kind: 'event' }>): string | null =>
  notification.kind === 'approval' ? notification.links.ui : notification.result.links.ui;

/** Signs as Standard Webhooks defines it. */
function signature(id: string, body: string, secret: string, nowMs: number): Record<string, string> {
  const at = new Date(nowMs);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(nowMs / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, at, body),
  };
}

/* Formats a notification as text for a chat. Text from outside is escaped, so that it mentions no user. Pure. */

const MAX_PARTS = 10;

type EndOf<K extends 'run' | 'rollout'> = Extract<Notification, { kind: K }>;

/** @param outside makes text from outside safe to show. Default: for Slack */
export const textOf = (notification: Notification, outside: Escape = slackText): string =>
  linesOf(notification, outside).join('\n');

/** The last line is the link, if there is one. */
function linesOf(notification: Notification, escape: Escape): string[] {
  const outside: Escape = (text, most) => escape(withOwnCommand(text), most);
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

function commandsFor({ outcome, phase, workflowId }: RolloutResult, outside: Escape): string[] {
  if (workflowId === null || outcome === 'completed') return [];
  const command = (name: string) => `${name}: npx belay-deploy rollout ${name} ${outside(shellWord(workflowId))}`;
  if (phase === 'paused') return ['resume', 'abort'].map((name) => `${command(name)} --reason TEXT`);
  return outcome === null ? [] : [command('retry')];
}

/** The sentence ends with a command, which people copy. */
const MAX_SENTENCE = 1_000;

function approvalText({ sentence, text, links }: ApprovalNotice, outside: Escape): string[] {
  const lines = text.split('\n').filter((line) => line !== '');
  return [outside(sentence, MAX_SENTENCE), ...lines.map((it) => outside(it)), ...(links.ui === null ? [] : [links.ui])];
}

interface Message {
  head: string;
  reason: string | undefined;
  parts: string[];
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

/* Makes text from outside safe in each kind of chat: no mention, no link, no markup. Pure. */

/** @param most how many characters are left of the text. Default: that of `plainText` */
type Escape = (text: string, most?: number) => string;

const ZERO_WIDTH = '\u200b';

/**
 * Escapes Slack's three control characters, so that `<!channel>` is plain text. A zero-width space breaks the mentions
 * and links of chats that take Markdown.
 */
function slackText(text: string, most?: number): string {
  const escaped = plainText(text, most).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return escaped.replace(/@|\](?=\()/g, (it) => (it === '@' ? `@${ZERO_WIDTH}` : `${it}${ZERO_WIDTH}`));
}

/** A backslash disarms each sign of Discord's Markdown, including mentions and timestamps. */
function discordText(text: string, most?: number): string {
  return plainText(text, most)
    .replaceAll(/[\\*_~`|>#[\]()<:-]/g, String.raw`\$&`)
    .replaceAll('@', `@${ZERO_WIDTH}`);
}

/**
 * Adaptive Cards do not read a text run as Markdown, so only the functions of templates and dates have to be broken up.
 */
function cardText(text: string, most?: number): string {
  return plainText(text, most)
    .replaceAll(/(?<=[{$])\{|(?<=\$)\(/g, `${ZERO_WIDTH}$&`)
    .replaceAll('@', `@${ZERO_WIDTH}`);
}
