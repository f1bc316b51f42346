/** Sends notifications with a POST to an address in belay.yaml. An address is a secret, so no error contains one. */
import { ConfigError } from '../../config/environment/variables.ts';
import { problemOfStandardSecret, checkedSource, type SecretRef } from '../../config/environment/secrets.ts';
import type { Configuration } from '../../config/load.ts';
import type { Notification, NotifyInput, ReportAnswer, ReportMessage } from './shapes.ts';
import type { NotifySettings } from '../../contract/activities.ts';
import { addressAt, type Address, send, checkChannelKind } from './worker-post.ts';
import { channelRequest, type ChannelKind } from './worker-channels.ts';
import { answerTo, beatAt, reportAt, type NoticeLinks } from './worker-reports.ts';

export interface Notifier {
  /** Contains only names. Null if no channel, heartbeat or report is configured. */
  readonly settings: NotifySettings | null;
  /** @returns false for a channel that is not configured. @throws NotTaken if the receiver did not accept the request */
  sendNotification: (input: NotifyInput) => Promise<boolean>;
  /**
   * @returns false for a heartbeat that is not configured. @throws NotTaken if the receiver did not accept the request
   */
  callHeartbeat: (name: string) => Promise<boolean>;
  sendReport: (message: ReportMessage) => Promise<ReportAnswer>;
}

type Notify = NonNullable<Configuration['notify']>;
type ChannelConfig = NonNullable<Notify['targets']>[string];

const NO_LINKS: NoticeLinks = { ofRun: () => null, ofSite: () => null };

/** @throws ConfigError if an address or a secret is missing or invalid */
export async function createNotifier(config: Configuration['notify'] = {}, links = NO_LINKS): Promise<Notifier> {
  const channels = await eachOf(config.targets, channelAt);
  const heartbeats = await eachOf(config.heartbeats, (name, place) => addressAt(`notify.heartbeats.${name}`, place));
  const reports = await eachOf(config.reports, (name, report) => reportAt(`notify.reports.${name}`, report, links));
  const isMeasured = (name: string) => config.heartbeats?.[name]?.kind !== undefined;
  const measured = new Map(
    [...heartbeats].filter(([name]) => isMeasured(name)).map(([name, address]) => [name, beatAt(name, address)]),
  );
  const tells = { heartbeat: measured, report: reports };
  const names = { channels: [...channels.keys()], heartbeats: [...heartbeats.keys()] };
  const reporting = {
    ...(measured.size > 0 ? { measured: [...measured.keys()] } : {}),
    ...(reports.size > 0 ? { reports: [...reports.keys()] } : {}),
  };
  const isEmpty = channels.size + heartbeats.size + reports.size === 0;
  return {
    settings: isEmpty ? null : { on: config.on ?? 'failed', ...names, ...reporting },
    async sendNotification({ channel, notification: given }) {
      const found = channels.get(channel);
      if (found === undefined) return false;
      const place = { kind: found.kind, address: await found.address(), secret: await found.secret() };
      const { address, ...request } = channelRequest(linked(given, links), { ...place, nowMs: Date.now() });
      await send(`channel ${channel}`, address, { method: 'POST', ...request });
      return true;
    },
    sendReport: (message) => answerTo(message, tells[message.to.kind].get(message.to.name)),
    async callHeartbeat(name) {
      const address = heartbeats.get(name);
      if (address === undefined) return false;
      await send(`heartbeat ${name}`, await address(), { method: 'POST' });
      return true;
    },
  };
}

function linked(notification: Notification, { ofRun }: NoticeLinks): Notification {
  const withLink = <T extends Parameters<typeof ofRun>[0]>(it: T) => ({ ...it, links: { ui: ofRun(it) } });
  if (notification.kind === 'run') return { ...notification, result: withLink(notification.result) };
  if (notification.kind === 'rollout') return { ...notification, result: withLink(notification.result) };
  return notification.kind === 'approval' ? withLink(notification) : notification;
}

interface Channel {
  kind: ChannelKind;
  address: Address;
  secret: () => Promise<string | null>;
}

async function channelAt(name: string, config: ChannelConfig): Promise<Channel> {
  const key = `notify.targets.${name}`;
  const { kind = 'slack' } = config;
  const secret = 'secret' in config ? await signingSecret(`${key}.secret`, config.secret) : () => Promise.resolve(null);
  const address = await addressAt(key, config);
  checkChannelKind(key, kind, await address());
  return { kind, address, secret };
}

const signingSecret = (key: string, place: SecretRef): Promise<() => Promise<string>> =>
  checkedSource(key, place, (text) => {
    const problem = problemOfStandardSecret(text);
    if (problem === null) return text;
    throw new ConfigError(`${key}: ${problem}`);
  });

async function eachOf<T, R>(
  entries: Record<string, T> | undefined,
  make: (name: string, entry: T) => Promise<R>,
): Promise<Map<string, R>> {
  const made = new Map<string, R>();
  for (const [name, entry] of Object.entries(entries ?? {})) made.set(name, await make(name, entry));
  return made;
}
