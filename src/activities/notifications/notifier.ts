/** Sends notifications: a POST to an address in belay.yaml. An address is a secret, so no error contains one. */
import { checkAddress, secretSource } from '../../config/environment/secrets.ts';
import type { Configuration } from '../../config/load.ts';
import type { RunResult } from '../../contract/run.ts';
import type { RolloutResult } from '../../contract/rollout.ts';
import type { ApprovalNotice, Notification, NotifyInput } from '../../contract/notification.ts';
import type { NotifySettings } from '../../contract/activities.ts';
import { textOf } from './message-text.ts';
import { TIMING } from '../../contract/timing.ts';

export interface Notifier {
  /** Names only; null if no channel and no heartbeat is configured. */
  readonly settings: NotifySettings | null;
  /** @returns false for a channel that is not configured. @throws Error if the receiver did not accept the request */
  send(input: NotifyInput): Promise<boolean>;
  /** @returns false for a heartbeat that is not configured. @throws Error if the receiver did not accept the request */
  callHeartbeat(name: string): Promise<boolean>;
}

type WithLink = <R extends RunResult | RolloutResult | ApprovalNotice>(result: R) => R;

/**
 * @param withLink adds the link to the Temporal UI
 * @throws ConfigError if an address is missing or invalid
 */
export async function createNotifier(config: Configuration['notify'], withLink: WithLink): Promise<Notifier> {
  const channels = await addresses('notify.targets', config?.targets ?? {});
  const heartbeats = await addresses('notify.heartbeats', config?.heartbeats ?? {});
  const names = { channels: [...channels.keys()], heartbeats: [...heartbeats.keys()] };
  const isEmpty = names.channels.length + names.heartbeats.length === 0;
  return {
    settings: isEmpty ? null : { on: config?.on ?? 'failed', ...names },
    async send({ channel, notification: given }) {
      const notification = linked(given, withLink);
      const body = JSON.stringify({ text: textOf(notification), ...notification });
      return call(`channel ${channel}`, channels.get(channel), {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': given.id },
        body,
      });
    },
    callHeartbeat: (name) => call(`heartbeat ${name}`, heartbeats.get(name), { method: 'POST' }),
  };
}

function linked(notification: Notification, withLink: WithLink): Notification {
  if (notification.kind === 'run') return { ...notification, result: withLink(notification.result) };
  if (notification.kind === 'rollout') return { ...notification, result: withLink(notification.result) };
  return notification.kind === 'approval' ? withLink(notification) : notification;
}

type Addresses = Map<string, () => Promise<string>>;

async function addresses(
  key: string,
  places: NonNullable<NonNullable<Configuration['notify']>['targets']>,
): Promise<Addresses> {
  const found: Addresses = new Map();
  for (const [name, place] of Object.entries(places)) {
    const source = secretSource(`${key}.${name}`, place);
    const address = async () => checkAddress(`${key}.${name}`, await source());
    await address();
    found.set(name, address);
  }
  return found;
}

async function call(
  what: string,
  address: (() => Promise<string>) | undefined,
  request: RequestInit,
): Promise<boolean> {
  if (address === undefined) return false;
  const signal = AbortSignal.timeout(TIMING.notify.answerMs);
  const response = await fetch(await address(), { ...request, redirect: 'manual', signal }).catch((error: unknown) => {
    // The original message may contain the address.
    const cause = (error as { cause?: { code?: string }; name?: string }) ?? {};
    throw new Error(`cannot reach ${what}: ${cause.cause?.code ?? cause.name ?? 'unknown error'}`);
  });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`${what} answered ${response.status}`);
  return true;
}
