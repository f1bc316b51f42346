/** A notification in words, as Slack takes them: what comes from outside is escaped, so that it calls nobody. Pure. */
import type { RunResult } from '../../contract/run.ts';
import type { Notification } from '../../contract/event.ts';
import type { RolloutResult } from '../../contract/rollout.ts';
import { sumText } from '../../contract/results/tally.ts';
import { namesIn } from '../../contract/wording/event-subjects.ts';
import { plainText } from '../../contract/wording/safe-text.ts';

const MAX_PARTS = 10;

export function textOf(notification: Notification): string {
  if (notification.about === 'event') return eventText(notification);
  const { leftOut } = notification;
  return notification.about === 'run' ? runText(notification.result, leftOut) : rolloutText(notification.result);
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
  return message({ head, why: error?.message, parts, leftOut, link: links.ui });
}

function rolloutText(result: RolloutResult): string {
  const { outcome, phase, error, workflowId, targets, servers, links, decisions } = result;
  const head = `${outcome ?? (phase === 'done' ? 'Internal' : phase)}: ${outside(workflowId ?? '')}: ${sumText(servers)}`;
  const last = outcome === null ? decisions.at(-1) : undefined;
  const why = error?.message ?? (last === undefined ? undefined : `${last.by}: ${last.why}`);
  const parts = targets
    .filter((it) => it.outcome !== null && it.outcome !== 'completed')
    .map((it) => `server ${outside(it.serverId)}: ${it.outcome}`);
  return message({ head, why, parts, leftOut: 0, link: links.ui });
}

interface Message {
  head: string;
  why: string | undefined;
  parts: string[];
  /** Beside these. */
  leftOut: number;
  link: string | null;
}

function message({ head, why, parts, leftOut, link }: Message): string {
  const untold = Math.max(0, parts.length - MAX_PARTS) + leftOut;
  const more = untold > 0 ? [`and ${untold} more`] : [];
  const reason = why === undefined ? [] : [outside(why)];
  return [head, ...reason, ...parts.slice(0, MAX_PARTS), ...more, ...(link === null ? [] : [link])].join('\n');
}

/** Slack's three characters: without them `<!channel>` is words. */
function outside(text: string): string {
  return plainText(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
