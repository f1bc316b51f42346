/** Sends one request to an address that is a secret, so no error contains the address. */
import { TIMING } from '../../contract/timing.ts';
import { isRecord, parsedJson } from '../../contract/plain-object.ts';
import { httpDateMs, retryAfterMs } from '../../hosting-api/index.ts';
import { checkAddress, checkedSource, type SecretRef } from '../../config/environment/secrets.ts';
import { ConfigError } from '../../config/environment/variables.ts';
import type { ChannelKind } from './worker-channels.ts';

export class NotTaken extends Error {
  override name = 'NotTaken';
  readonly status: number | null;
  readonly retryAfterMs: number | undefined;
  /** The receiver's answer. It may repeat a secret, so nothing shows or stores it. */
  declare readonly body: string;

  constructor(
    message: string,
    status: number | null,
    { waitMs, body = '' }: { waitMs?: number | undefined; body?: string } = {},
  ) {
    super(message);
    this.status = status;
    this.retryAfterMs = waitMs;
    Object.defineProperty(this, 'body', { value: body, enumerable: false });
  }
}

const MAX_BODY = 1_000_000;

/**
 * @param what names the receiver in errors
 * @returns the first characters of the answer
 * @throws NotTaken unless the answer is 2xx; redirects are not followed
 */
export async function send(what: string, address: string, request: RequestInit): Promise<string> {
  const signal = AbortSignal.timeout(TIMING.notify.answerMs);
  const unreached = (error: unknown) => {
    // The original message may contain the address.
    const cause = (error as { cause?: { code?: string }; name?: string }) ?? {};
    throw new NotTaken(`cannot reach ${what}: ${cause.cause?.code ?? cause.name ?? 'unknown error'}`, null);
  };
  const response = await fetch(address, { ...request, redirect: 'manual', signal }).catch(unreached);
  const body = await bodyOf(response).catch(unreached);
  const { ok, status, headers } = response;
  if (ok) return body;
  const waitMs = waitOf(status, headers, body);
  throw new NotTaken(`${what} answered ${status}`, status, { waitMs, body });
}

/** Discord gives the wait in the body, in fractional seconds. */
function waitOf(status: number, headers: Headers, body: string): number | undefined {
  // Times follow the receiver's clock.
  const nowMs = httpDateMs(headers.get('date')) ?? Date.now();
  const asked = retryAfterMs(headers.get('retry-after'), nowMs) ?? untilResetMs(status, headers, nowMs);
  if (asked !== undefined || status !== 429) return asked;
  const content = parsedJson(body);
  const seconds = isRecord(content) ? content['retry_after'] : undefined;
  return typeof seconds === 'number' && seconds >= 0 ? Math.ceil(seconds * 1_000) : undefined;
}

/** GitHub also answers 403 when the requests of an hour are used up, and says when the next hour begins. */
function untilResetMs(status: number, headers: Headers, nowMs: number): number | undefined {
  const reset = headers.get('x-ratelimit-reset') ?? '';
  if (![403, 429].includes(status) || headers.get('x-ratelimit-remaining') !== '0' || !/^\d{1,12}$/.test(reset))
    return undefined;
  return Math.max(1_000, Number(reset) * 1_000 - nowMs);
}

async function bodyOf({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > MAX_BODY) break;
  }
  return text.slice(0, MAX_BODY);
}

/* Reads addresses that are secrets again at each use. */

export type Address = () => Promise<string>;

/** @throws ConfigError if the address is missing or invalid */
export const addressAt = (key: string, place: SecretRef): Promise<Address> =>
  checkedSource(key, place, (address) => checkAddress(key, address));

/** Removes a slash at the end. @throws ConfigError */
export const checkedAddress = (key: string, address: string): string => checkAddress(key, address).replace(/\/+$/, '');

/* Rejects tokens and addresses of another kind than belay.yaml names. No error contains one. Pure. */

type RepositoryKind = 'github' | 'gitlab';

/** @throws ConfigError */
export function checkTokenKind(key: string, kind: RepositoryKind, token: string): string {
  const found = TOKENS.find(([, shape]) => shape.test(token))?.[0] ?? kind;
  if (found !== kind) throw new ConfigError(`${key}: it is a token of ${found}, and the report is of kind: ${kind}`);
  return token;
}

const TOKENS: readonly [RepositoryKind, RegExp][] = [
  ['github', /^(gh._|github_pat_)/],
  ['gitlab', /^gl[a-z]{2,8}-/],
];

const WRONG_API: Record<RepositoryKind, RegExp[]> = {
  github: [/^(www\.)?github\.com\//, /^gitlab\.com\//, /\/api\/v4$/],
  gitlab: [/^([\w.-]+\.)?(github|ghe)\.com\//, /\/api\/v3$/],
};
const APIS: Record<RepositoryKind, string> = {
  github: 'https://HOST/api/v3, and nothing for github.com',
  gitlab: 'https://HOST/api/v4',
};

/** @throws ConfigError */
export function checkApi(key: string, kind: RepositoryKind, address: string): string {
  const { hostname, pathname } = new URL(address);
  const isWrong = WRONG_API[kind].some((it) => it.test(hostname + pathname));
  if (isWrong) throw new ConfigError(`${key}: it is not the API of ${kind}: write ${APIS[kind]}`);
  return address;
}

/** @throws ConfigError */
export function checkChannelKind(key: string, kind: ChannelKind, address: string): void {
  const { hostname, pathname } = new URL(address);
  if (hostname.endsWith('.webhook.office.com'))
    throw new ConfigError(`${key}: the address is of a connector, which Teams has ended: make one of a workflow`);
  const found = kindAt(hostname, pathname) ?? kind;
  if (found !== kind) throw new ConfigError(`${key}: the address is one of ${found}: write kind: ${found}`);
}

/** Null if any kind may listen at this address. */
function kindAt(hostname: string, pathname: string): ChannelKind | null {
  if (hostname === 'hooks.slack.com') return 'slack';
  if (hostname.endsWith('.logic.azure.com') || hostname.endsWith('.powerplatform.com')) return 'teams';
  if (!/(^|\.)discord(app)?\.com$/.test(hostname)) return null;
  // Discord takes messages in Slack's format at such a path.
  return pathname.endsWith('/slack') ? 'slack' : 'discord';
}
