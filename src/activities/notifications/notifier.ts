/** Telling people: a POST to each address that belay.yaml names. An address is a secret, so no error holds one. */
import { checkAddress, secretSource } from '../../config/environment/environment.ts';
import type { Configuration } from '../../config/load.ts';
import type { RunResult } from '../../contract/run.ts';
import type { RolloutResult } from '../../contract/rollout.ts';
import type { Notification } from '../../contract/event.ts';
import type { NotifyFacts } from '../../contract/activities.ts';
import { textOf } from './message-text.ts';

const ANSWER_TIMEOUT_MS = 8_000;

export interface Notifier {
  /** Names only; null where nobody is to be told. */
  readonly facts: NotifyFacts | null;
  /** @returns false for a target that isn't configured. @throws Error where it was not taken */
  notify(input: { target: string; notification: Notification }): Promise<boolean>;
  /** @returns false for one that isn't configured. @throws Error where it was not taken */
  callHeartbeat(name: string): Promise<boolean>;
}

type WithLink = <R extends RunResult | RolloutResult>(result: R) => R;

/**
 * @param withLink adds where the run is seen in the Temporal UI
 * @throws ConfigError where an address is missing or none
 */
export async function createNotifier(config: Configuration['notify'], withLink: WithLink): Promise<Notifier> {
  const targets = await addresses('notify.targets', config?.targets ?? {});
  const heartbeats = await addresses('notify.heartbeats', config?.heartbeats ?? {});
  const names = { targets: [...targets.keys()], heartbeats: [...heartbeats.keys()] };
  const isEmpty = names.targets.length + names.heartbeats.length === 0;
  return {
    facts: isEmpty ? null : { on: config?.on ?? 'failed', ...names },
    async notify({ target, notification: given }) {
      const notification = linked(given, withLink);
      const body = JSON.stringify({ text: textOf(notification), ...notification });
      return call(`target ${target}`, targets.get(target), {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': given.id },
        body,
      });
    },
    callHeartbeat: (name) => call(`heartbeat ${name}`, heartbeats.get(name), { method: 'POST' }),
  };
}

function linked(notification: Notification, withLink: WithLink): Notification {
  if (notification.about === 'run') return { ...notification, result: withLink(notification.result) };
  if (notification.about === 'rollout') return { ...notification, result: withLink(notification.result) };
  return notification;
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
  const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
  const response = await fetch(await address(), { ...request, redirect: 'manual', signal }).catch((error: unknown) => {
    // The error's own words may hold the address.
    const cause = (error as { cause?: { code?: string }; name?: string }) ?? {};
    throw new Error(`${what} was not reached: ${cause.cause?.code ?? cause.name ?? 'unknown error'}`);
  });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`${what} answers ${response.status}`);
  return true;
}
