/** A notification in words, as Slack takes them: what comes from outside is escaped, so that it calls nobody. Pure. */
import type { RunResult } from '../contract.ts';
import type { Notification } from '../event-contract.ts';
import { namesIn } from '../event-names.ts';
import { plainText } from '../text.ts';

const MAX_PARTS = 10;

export function textOf(notification: Notification): string {
  return notification.about === 'event' ? eventText(notification) : runText(notification.result, notification.leftOut);
}

function eventText({ event, source, verified }: Extract<Notification, { about: 'event' }>): string {
  const ids = namesIn(event, outside).join(', ') || 'nothing named';
  const said = event.said === null || event.said === event.kind ? '' : ` ("${outside(event.said)}")`;
  return `${event.kind}${said}: ${ids}, from ${outside(source)}${verified ? '' : ', not verified'}`;
}

function runText({ outcome, error, workflowId, backup, deployments, links }: RunResult, leftOut: number): string {
  const head = `${outcome ?? error?.type ?? 'Internal'}: ${outside(workflowId ?? '')}`;
  const parts = [
    ...(backup === null ? [] : [`backup of ${outside(backup.serverId)}: ${backup.outcome ?? 'not ended'}`]),
    ...deployments.map((it) => `deployment of ${outside(it.siteId)}: ${it.outcome ?? 'not ended'}`),
  ];
  const untold = Math.max(0, parts.length - MAX_PARTS) + leftOut;
  const more = untold > 0 ? [`and ${untold} more`] : [];
  const why = error === null ? [] : [outside(error.message)];
  const link = links.ui === null ? [] : [links.ui];
  return [head, ...why, ...parts.slice(0, MAX_PARTS), ...more, ...link].join('\n');
}

/** Slack's three characters: without them `<!channel>` is words. */
function outside(text: string): string {
  return plainText(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
