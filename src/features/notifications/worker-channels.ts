/** The request that carries a notification, for each kind of channel. Pure, but for the secret that signs it. */
import { Webhook } from 'standardwebhooks';
import type { Notification } from './shapes.ts';
import { cardText, discordText } from './escapes.ts';
import { linesOf, textOf } from './message-text.ts';

export type ChannelKind = 'slack' | 'teams' | 'discord' | 'webhook';

export interface ChannelRequest {
  address: string;
  headers: Record<string, string>;
  body: string;
}

interface Given {
  kind: ChannelKind;
  address: string;
  /** Of a webhook: it signs the body. */
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
  return { text: textOf(notification), ...notification };
}

/** Without it, Discord answers before it has stored the message, and reports no failure. */
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

/** Leaves out whole lines, so that no escape is cut in two. The last one may be the link, and stays. */
function fitting(lines: readonly string[], maxLength: number): string {
  const last = lines.length - 1;
  const textWith = (count: number) => [...lines.slice(0, count), '…', lines[last] ?? ''].join('\n');
  const whole = lines.join('\n');
  if (whole.length <= maxLength) return whole;
  const count = Array.from({ length: lines.length }, (_, index) => last - index).find(
    (it) => textWith(it).length <= maxLength,
  );
  return count === undefined ? '…' : textWith(count);
}

const CARD_SCHEMA = 'http://adaptivecards.io/schemas/adaptive-card.json';
const CARD_TYPE = 'application/vnd.microsoft.card.adaptive';

/** Its text is in runs, which have no Markdown. */
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

/** As Standard Webhooks defines it. */
function signature(id: string, body: string, secret: string, nowMs: number): Record<string, string> {
  const at = new Date(nowMs);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(nowMs / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, at, body),
  };
}
