/**
 * Makes one HTTP exchange with the service. It turns every axios error into a HostingApiError, because axios errors
 * hold the token.
 */
import http from 'node:http';
import https from 'node:https';
import { isIP, type Socket } from 'node:net';
import tls from 'node:tls';
import axios from 'axios';
import { hideSecret } from '../echo/index.ts';
import { HostingApiError } from './errors.ts';
import { httpDateMs } from './http-date.ts';
import { isJson } from './parse-answers.ts';

const MAX_BODY_BYTES = 256 * 1024;
const MAX_TEXT_LENGTH = 200;

export interface HttpOptions {
  baseUrl: string;
  /** Called for every request, so that a rotated token needs no restart. */
  token: () => Promise<string>;
  /** The URL of the proxy, with a user and password if it needs them. */
  proxy?: string;
  /** Sends the requests. Default: over HTTP. */
  send?: Send;
  /** Called after every request that was sent or tried. */
  onRequest?: (it: RequestReport) => void;
}

export interface RequestReport {
  method: 'GET' | 'POST';
  status: number | null;
  tookMs: number;
}

export interface RawAnswer {
  status: number;
  /** The names are in lower case. */
  headers: Record<string, unknown>;
  body: string;
}

/** @throws HostingApiError */
export type Send = (options: HttpOptions, call: Exchange, token: string) => Promise<RawAnswer>;

/** Nothing is sent once no time is left. */
export interface SendPermit {
  leftMs(): number;
}

export interface Exchange {
  method: 'GET' | 'POST';
  path: string;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  headers?: Record<string, string>;
  permit?: SendPermit | undefined;
}

/** A 2xx answer, and the token that the request carried. */
export interface Answer {
  body: string;
  token: string;
  /** The service's clock. Null if the service does not report its time. */
  dateMs: number | null;
}

/** @throws HostingApiError */
export async function exchange(options: HttpOptions, call: Exchange): Promise<Answer> {
  const request = `${call.method} ${call.path}`;
  const token = await options.token().catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : 'the token cannot be read';
    throw new HostingApiError({ kind: 'token', request, reason, sent: false });
  });
  // Reading the token may have taken too long.
  if (isLate(call)) {
    throw new HostingApiError({ kind: 'network', request, reason: 'not sent: it is too late', sent: false });
  }
  const { status, headers, body } = await reportedSend(options, call, token);
  const answer = { body, token, dateMs: httpDateMs(headers.date) };
  if (status >= 200 && status < 300) return answer;
  throw answerError(request, { status, headers }, answer);
}

async function reportedSend(options: HttpOptions, call: Exchange, token: string): Promise<RawAnswer> {
  const { send = sendOverHttp, onRequest } = options;
  const beganMs = performance.now();
  let status: number | null = null;
  try {
    const answer = await send(options, call, token);
    ({ status } = answer);
    return answer;
  } finally {
    onRequest?.({ method: call.method, status, tookMs: performance.now() - beganMs });
  }
}

async function sendOverHttp(options: HttpOptions, call: Exchange, token: string): Promise<RawAnswer> {
  const request = `${call.method} ${call.path}`;
  const deadline = AbortSignal.timeout(call.timeoutMs);
  const connection = { made: false };
  try {
    const { status, headers, data } = await axios.request<string>({
      method: call.method,
      url: options.baseUrl.replace(/\/+$/, '') + call.path,
      headers: {
        Accept: 'application/json',
        // No request has a body. Axios would name a form, which a service may refuse.
        'Content-Type': false,
        'User-Agent': 'belay',
        ...call.headers,
        Authorization: `Bearer ${token}`,
      },
      signal: call.signal === undefined ? deadline : AbortSignal.any([deadline, call.signal]),
      maxRedirects: 0,
      maxContentLength: MAX_BODY_BYTES,
      responseType: 'text',
      transformResponse: (body: string) => body,
      validateStatus: () => true,
      // Use neither the variables of the environment nor axios' own tunnels, which take a proxy's refusal for an
      // answer.
      proxy: false,
      transport: transportFor(call, connection, options.proxy),
    });
    return { status, headers, body: data ?? '' };
  } catch (error) {
    throw failureOf(error, { request, timedOut: deadline.aborted, timeoutMs: call.timeoutMs, sent: connection.made });
  }
}

const agents = { http: new http.Agent({ keepAlive: true }), https: new https.Agent({ keepAlive: true }) };

function transportFor(call: Exchange, connection: { made: boolean }, proxy: string | undefined) {
  return {
    request(options: https.RequestOptions, onResponse: (response: http.IncomingMessage) => void): http.ClientRequest {
      const secure = options.protocol === 'https:';
      options.agent = agentFor(call, secure, proxy);
      const request = (secure ? https : http).request(options, onResponse);
      // Connecting may also take too long.
      const giveUp = () => connection.made || request.destroy();
      const late = call.permit === undefined ? undefined : setTimeout(giveUp, Math.max(0, call.permit.leftMs()));
      request.once('close', () => clearTimeout(late));
      const onConnected = () => {
        // The machine, and its timers with it, may have been suspended meanwhile. Nothing has been written yet.
        if (isLate(call)) request.destroy();
        else connection.made = true;
      };
      request.once('socket', (socket) => {
        if (!socket.connecting) onConnected();
        else socket.once(secure ? 'secureConnect' : 'connect', onConnected);
      });
      return request;
    },
  };
}

/** Reads reuse connections. A trigger gets a fresh one, because a reused connection may be dead. */
function agentFor({ method }: Exchange, secure: boolean, proxy: string | undefined): http.Agent | false {
  if (proxy !== undefined) return new TunnelAgent(new URL(proxy), secure);
  if (method === 'POST') return false;
  return secure ? agents.https : agents.http;
}

const isLate = ({ permit }: Exchange): boolean => permit !== undefined && permit.leftMs() <= 0;

function failureOf(
  error: unknown,
  facts: { request: string; timedOut: boolean; timeoutMs: number; sent: boolean },
): HostingApiError {
  const { request, sent } = facts;
  if (facts.timedOut) {
    const reason = sent
      ? `no complete answer within ${facts.timeoutMs} ms`
      : `no connection within ${facts.timeoutMs} ms`;
    return new HostingApiError({ kind: 'timeout', request, reason, sent });
  }
  const code = axios.isAxiosError(error) ? error.code : undefined;
  if (axios.isAxiosError(error) && /maxContentLength/.test(error.message)) {
    return new HostingApiError({ kind: 'protocol', request, reason: `the body is over ${MAX_BODY_BYTES} bytes`, sent });
  }
  // Drop the rest of the error: it holds the request, and with it the token.
  const reason = `${sent ? 'the connection broke' : 'no connection was made'}${code === undefined ? '' : ` (${code})`}`;
  return new HostingApiError({ kind: 'network', request, reason, sent });
}

function answerError(
  request: string,
  { status, headers }: Pick<RawAnswer, 'status' | 'headers'>,
  { body, token, dateMs }: Answer,
): HostingApiError {
  const text = hideToken(body, token).replace(/\s+/g, ' ').trim();
  const reason = text === '' || text.startsWith('<') ? (http.STATUS_CODES[status] ?? '') : text;
  // A date in Retry-After follows the service's clock.
  const waitMs = retryAfterMs(headers['retry-after'], dateMs ?? Date.now());
  return new HostingApiError({
    kind: 'http',
    request,
    reason: [...`${status} ${reason}`.trim()].slice(0, MAX_TEXT_LENGTH).join(''),
    sent: true,
    httpStatus: status,
    isJson: isJson(body),
    dateMs,
    ...(waitMs === undefined ? {} : { retryAfterMs: waitMs }),
  });
}

/*
 * Connects to the service through a proxy. A request gets its socket only once the tunnel stands and, for https, the
 * service has completed the TLS handshake in it. A failure before that has certainly sent nothing.
 */

/** The request itself gives up sooner. */
const ABANDONED_AFTER_MS = 30_000;

type Created = (error: Error | null, socket: Socket) => void;
type Wanted = http.ClientRequestArgs & tls.ConnectionOptions;

class TunnelAgent extends http.Agent {
  /** Node compares this with the protocol of each request. */
  readonly protocol: string;
  /** Node uses this for requests whose URL names no port. */
  readonly defaultPort: number;
  readonly #proxy: URL;

  constructor(proxy: URL, secure: boolean) {
    super();
    this.protocol = secure ? 'https:' : 'http:';
    this.defaultPort = defaultPortOf(this.protocol);
    this.#proxy = proxy;
  }

  override createConnection(options: Wanted, callback?: Created): undefined {
    const created: Created = callback ?? (() => undefined);
    const { host = '', port } = options;
    const target = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
    const request = (this.#proxy.protocol === 'https:' ? https : http).request({
      method: 'CONNECT',
      // A URL has IPv6 addresses in brackets.
      host: this.#proxy.hostname.replace(/^\[|\]$/g, ''),
      port: this.#proxy.port || defaultPortOf(this.#proxy.protocol),
      path: target,
      headers: { Host: target, ...authorization(this.#proxy) },
      agent: false,
    });
    const failed = (error: Error) => (created as (error: Error) => void)(error);
    request.once('error', failed);
    request.once('socket', (socket) => socket.setTimeout(ABANDONED_AFTER_MS, () => socket.destroy()));
    request.once('connect', ({ statusCode }, socket: Socket) => {
      if (statusCode !== 200) {
        socket.destroy();
        return failed(Object.assign(new Error('the proxy refused'), { code: `the proxy answered ${statusCode}` }));
      }
      const ready = (usable: Socket) => {
        socket.setTimeout(0);
        created(null, usable);
      };
      if (this.protocol === 'http:') return ready(socket);
      const secure = tls.connect({ ...options, socket });
      secure.once('error', failed);
      secure.once('secureConnect', () => ready(secure));
    });
    request.end();
    return undefined;
  }
}

const defaultPortOf = (protocol: string): number => (protocol === 'https:' ? 443 : 80);

function authorization({ username, password }: URL): Record<string, string> {
  if (username === '') return {};
  const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'Proxy-Authorization': `Basic ${Buffer.from(login).toString('base64')}` };
}

/** The final states of the interface are no secret, even if the token is such a word. */
const DOCUMENTED_STATUS = /^(completed|failed)$/i;

const hideToken = (text: string, token: string): string => hideSecret(text, token, '[token]');

export function hideInStatus(status: string, token: string): string {
  return DOCUMENTED_STATUS.test(status) ? status : hideToken(status, token);
}

/** Longer than any budget, and a date can still be that far away. */
const LONGEST_PAUSE_S = 9_999_999_999;

/**
 * Returns the milliseconds to wait according to a Retry-After header (RFC 9110, 10.2.3: seconds or an HTTP date), never
 * a negative number. Undefined if the header is missing or invalid.
 */
export function retryAfterMs(header: unknown, nowMs: number): number | undefined {
  if (typeof header !== 'string') return undefined;
  const text = header.trim();
  if (/^\d+$/.test(text)) return Math.min(Number(text), LONGEST_PAUSE_S) * 1_000;
  const dateMs = httpDateMs(text, nowMs);
  return dateMs === null ? undefined : Math.max(0, dateMs - nowMs);
}
