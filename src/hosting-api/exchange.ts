/** One HTTP exchange with the service. Turns whatever axios throws into a ServiceError before it can leave here. */
import http from 'node:http';
import https from 'node:https';
import axios, { type AxiosResponse } from 'axios';
import { ServiceError } from './errors.ts';
import { retryAfterMs } from './retry-after.ts';

const MAX_BODY_BYTES = 256 * 1024;
const MAX_REASON_LENGTH = 200;

export interface HttpOptions {
  baseUrl: string;
  /** Asked for every request, so that a rotated token needs no restart. */
  token: () => Promise<string>;
  /** Honour HTTPS_PROXY and its like. */
  proxyFromEnvironment?: boolean;
}

export interface Exchange {
  method: 'GET' | 'POST';
  path: string;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  headers?: Record<string, string>;
  /** Beyond this, milliseconds since 1970, nothing is sent. */
  notAfterMs?: number | undefined;
}

/** The body of a 2xx answer. @throws ServiceError */
export async function exchange(options: HttpOptions, call: Exchange): Promise<string> {
  const request = `${call.method} ${call.path}`;
  const token = await options.token().catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : 'the token cannot be read';
    throw new ServiceError({ kind: 'token', request, reason, sent: false });
  });
  // The token may have taken its time.
  if (call.notAfterMs !== undefined && Date.now() > call.notAfterMs) {
    throw new ServiceError({ kind: 'network', request, reason: 'not sent: it is too late for it', sent: false });
  }
  const deadline = AbortSignal.timeout(call.timeoutMs);
  const connection = { made: false };
  let response: AxiosResponse<string>;
  try {
    response = await axios.request<string>({
      method: call.method,
      url: options.baseUrl.replace(/\/+$/, '') + call.path,
      headers: { Accept: 'application/json', 'User-Agent': 'belay', ...call.headers, Authorization: `Bearer ${token}` },
      signal: call.signal === undefined ? deadline : AbortSignal.any([deadline, call.signal]),
      maxRedirects: 0,
      maxContentLength: MAX_BODY_BYTES,
      responseType: 'text',
      transformResponse: (body: string) => body,
      validateStatus: () => true,
      ...(options.proxyFromEnvironment === true ? {} : { proxy: false }),
      transport: transportFor(call, connection),
    });
  } catch (error) {
    throw failureOf(error, { request, timedOut: deadline.aborted, timeoutMs: call.timeoutMs, sent: connection.made });
  }
  // One that echoes what it was sent would have the token in histories.
  const body = withoutToken(response.data ?? '', token);
  if (response.status >= 200 && response.status < 300) return body;
  throw answerError(request, response, body);
}

/** Reads keep their connections; a trigger gets a fresh one, for a kept one may be dead without our knowing. */
const agents = { http: new http.Agent({ keepAlive: true }), https: new https.Agent({ keepAlive: true }) };

function transportFor(call: Exchange, connection: { made: boolean }) {
  // Connecting may take its time, too.
  const lateMs = call.notAfterMs === undefined ? null : Math.max(0, call.notAfterMs - Date.now());
  return {
    request(options: https.RequestOptions, onResponse: (response: http.IncomingMessage) => void): http.ClientRequest {
      const secure = options.protocol === 'https:';
      // A proxy's tunnel comes as an agent of its own.
      options.agent ??= call.method === 'POST' ? false : secure ? agents.https : agents.http;
      const request = (secure ? https : http).request(options, onResponse);
      const late = lateMs === null ? undefined : setTimeout(() => connection.made || request.destroy(), lateMs);
      request.once('close', () => clearTimeout(late));
      request.once('socket', (socket) => {
        if (!socket.connecting) connection.made = true;
        else socket.once(secure ? 'secureConnect' : 'connect', () => (connection.made = true));
      });
      return request;
    },
  };
}

function failureOf(
  error: unknown,
  facts: { request: string; timedOut: boolean; timeoutMs: number; sent: boolean },
): ServiceError {
  const { request, sent } = facts;
  if (facts.timedOut) {
    const reason = sent ? `no whole answer within ${facts.timeoutMs} ms` : `no connection within ${facts.timeoutMs} ms`;
    return new ServiceError({ kind: 'timeout', request, reason, sent });
  }
  const code = axios.isAxiosError(error) ? error.code : undefined;
  if (axios.isAxiosError(error) && /maxContentLength/.test(error.message)) {
    return new ServiceError({ kind: 'protocol', request, reason: `the body is over ${MAX_BODY_BYTES} bytes`, sent });
  }
  // Nothing else of the error is passed on: it holds the request, and with it the token.
  const reason = `${sent ? 'the connection broke' : 'no connection was made'}${code === undefined ? '' : ` (${code})`}`;
  return new ServiceError({ kind: 'network', request, reason, sent });
}

/** As it is, and as JSON writes it. */
function withoutToken(body: string, token: string): string {
  return body.replaceAll(token, '[token]').replaceAll(JSON.stringify(token).slice(1, -1), '[token]');
}

function answerError(request: string, response: AxiosResponse<string>, body: string): ServiceError {
  const text = body.replace(/\s+/g, ' ').trim();
  const said = text === '' || text.startsWith('<') ? (http.STATUS_CODES[response.status] ?? '') : text;
  const waitMs = retryAfterMs(response.headers['retry-after'], Date.now());
  return new ServiceError({
    kind: 'http',
    request,
    reason: `${response.status} ${said}`.trim().slice(0, MAX_REASON_LENGTH),
    sent: true,
    httpStatus: response.status,
    ...(waitMs === undefined ? {} : { retryAfterMs: waitMs }),
  });
}
