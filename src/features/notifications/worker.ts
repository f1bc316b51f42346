/** Sends notifications with a POST to an address in belay.yaml. An address is a secret, so no error contains one. */
import { ConfigError } from '../../config/environment/variables.ts';
import { problemOfStandardSecret, secretSource, type SecretRef } from '../../config/environment/secrets.ts';
import type { Configuration } from '../../config/load.ts';
import type { RunResult } from '../../contract/run.ts';
import type { RolloutResult } from '../rollouts/shapes.ts';
import type { ApprovalNotice, Notification, NotifyInput } from './shapes.ts';
import { emptyResult } from '../../contract/results.ts';
import type { RunRef } from './shapes.ts';
import type { NotifySettings } from '../../contract/activities.ts';
import { addressAt, type Address, send, checkChannelKind } from './worker-post.ts';
import { channelRequest, type ChannelKind } from './worker-channels.ts';
import { createReporter, type Reporter, type ReportLinks } from './worker-reports.ts';

export interface Notifier {
  /** Contains only names. Null if no channel, heartbeat or report is configured. */
  readonly settings: NotifySettings | null;
  /** @returns false for a channel that is not configured. @throws NotTaken if the receiver did not accept the request */
  sendNotification: (input: NotifyInput) => Promise<boolean>;
  /**
   * @returns false for a heartbeat that is not configured. @throws NotTaken if the receiver did not accept the request
   */
  callHeartbeat: (name: string) => Promise<boolean>;
  sendReport: Reporter['send'];
}

type Notify = NonNullable<Configuration['notify']>;
type ChannelConfig = NonNullable<Notify['targets']>[string];
type WithLink = <R extends RunResult | RolloutResult | ApprovalNotice>(result: R) => R;

/**
 * @param withLink adds the link to the Temporal UI
 * @param siteUrl returns the address of a site, if belay.yaml knows it
 * @throws ConfigError if an address or a secret is missing or invalid
 */
export async function createNotifier(
  config: Configuration['notify'],
  withLink: WithLink,
  siteUrl: ReportLinks['ofSite'] = () => null,
): Promise<Notifier> {
  const channels = await eachOf(config?.targets ?? {}, channelAt);
  const heartbeats = await eachOf(config?.heartbeats ?? {}, (name, place) =>
    addressAt(`notify.heartbeats.${name}`, placeOf(place)),
  );
  const reporter = await createReporter(config, { ofRun: (run) => linkTo(run, withLink), ofSite: siteUrl });
  const names = { channels: [...channels.keys()], heartbeats: [...heartbeats.keys()] };
  const { measured, reports } = reporter;
  const reporting = { ...(measured.length > 0 ? { measured } : {}), ...(reports.length > 0 ? { reports } : {}) };
  const isEmpty = names.channels.length + names.heartbeats.length + reports.length === 0;
  return {
    settings: isEmpty ? null : { on: config?.on ?? 'failed', ...names, ...reporting },
    async sendNotification({ channel, notification: given }) {
      const found = channels.get(channel);
      if (found === undefined) return false;
      const place = { kind: found.kind, address: await found.address(), secret: await found.secret() };
      const { address, ...request } = channelRequest(linked(given, withLink), { ...place, nowMs: Date.now() });
      await send(`channel ${channel}`, address, { method: 'POST', ...request });
      return true;
    },
    sendReport: reporter.send,
    async callHeartbeat(name) {
      const address = heartbeats.get(name);
      if (address === undefined) return false;
      await send(`heartbeat ${name}`, await address(), { method: 'POST' });
      return true;
    },
  };
}

const linkTo = ({ workflowId, firstRunId }: RunRef, withLink: WithLink): string | null =>
  withLink({ ...emptyResult(), workflowId, runId: firstRunId }).links.ui;

function linked(notification: Notification, withLink: WithLink): Notification {
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
  const address = await addressAt(key, placeOf(config));
  checkChannelKind(key, kind, await address());
  return { kind, address, secret };
}

const placeOf = (config: SecretRef): SecretRef => ('env' in config ? { env: config.env } : { file: config.file });

async function signingSecret(key: string, place: SecretRef): Promise<() => Promise<string>> {
  const source = secretSource(key, place);
  const secret = async () => {
    const text = await source();
    const problem = problemOfStandardSecret(text);
    if (problem === null) return text;
    throw new ConfigError(`${key}: ${problem}`);
  };
  await secret();
  return secret;
}

async function eachOf<T, R>(
  entries: Record<string, T>,
  make: (name: string, entry: T) => Promise<R>,
): Promise<Map<string, R>> {
  const made = new Map<string, R>();
  for (const [name, entry] of Object.entries(entries)) made.set(name, await make(name, entry));
  return made;
}
