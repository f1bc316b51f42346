/**
 * What stands in front of a Temporal server as Temporal Cloud does: it ends TLS, asks for a client certificate or an API
 * key, and refuses calls that it does not serve or limits. It counts them all.
 */
import { once } from 'node:events';
import {
  connect,
  constants,
  createSecureServer,
  type ClientHttp2Session,
  type Http2Stream,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { atEnd } from './at-end.ts';
import { createAuthority, type Authority } from './certificates.ts';

/** https://grpc.io/docs/guides/status-codes/ */
export const STATUS = { permissionDenied: 7, resourceExhausted: 8, unimplemented: 12, unauthenticated: 16 } as const;

export interface Refusal {
  status: number;
  message: string;
}

export interface Front {
  /** `localhost:port`. */
  address: string;
  /** Signed the certificate of the front. */
  authority: Authority;
  /** From now on, new connections need a certificate of this authority. For a front that `asks`. */
  askFor(clients: Authority): void;
  /** Accepts these API keys alone; null: does not ask for one. */
  accept(keys: readonly string[] | null): void;
  /** Refuses calls of a method, such as `DescribeTaskQueue`, for which `why` returns a reason. */
  refuse(method: string, why: () => Refusal | null): void;
  /** How often each method was called since the last count. */
  count(): Record<string, number>;
  /** Whether a method was called with this API key. */
  wasCalled(method: string, key: string): boolean;
  /** Ends all connections. New ones are accepted. */
  drop(): void;
}

interface FrontOptions {
  /** The name in its certificate. Default: the one it is called by. */
  name?: string;
  /** Whose certificates it asks for. Default: none. */
  clients?: Authority;
}

/** @param address of the Temporal server */
export async function startFront(address: string, { name = 'localhost', clients }: FrontOptions = {}): Promise<Front> {
  const authority = createAuthority('Authority of the server');
  const own = authority.issue(name, { names: [name] });
  const refusals = new Map<string, () => Refusal | null>();
  let keys: readonly string[] | null = null;
  let calls: Record<string, number> = {};
  const asking = clients === undefined ? {} : { ca: clients.cert, requestCert: true, rejectUnauthorized: true };
  const server = createSecureServer({ ...own, ...asking });
  const onward = new Map<ServerHttp2Session, ClientHttp2Session>();
  const keyUses = new Set<string>();

  server.on('session', (session) => void onward.set(session, pairWith(session, address)));
  server.on('sessionError', () => undefined);
  server.on('stream', (stream, headers) => {
    const method = (headers[':path'] ?? '').split('/').at(-1) ?? '';
    calls[method] = (calls[method] ?? 0) + 1;
    keyUses.add(`${method} ${headers.authorization ?? ''}`);
    const refusal = keyProblem(headers, keys) ?? refusals.get(method)?.() ?? null;
    if (refusal !== null) refuseCall(stream, refusal);
    else forward(stream, headers, onward.get(stream.session as ServerHttp2Session)!);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const drop = () => {
    for (const session of onward.keys()) session.destroy();
    onward.clear();
  };
  atEnd(async () => {
    server.close();
    drop();
  });
  return {
    address: `localhost:${(server.address() as AddressInfo).port}`,
    authority,
    askFor: ({ cert }) => server.setSecureContext({ ...own, ca: cert }),
    accept: (accepted) => void (keys = accepted),
    refuse: (method, why) => void refusals.set(method, why),
    count() {
      const counted = calls;
      calls = {};
      return counted;
    },
    wasCalled: (method, key) => keyUses.has(`${method} Bearer ${key}`),
    drop,
  };
}

function pairWith(session: ServerHttp2Session, address: string): ClientHttp2Session {
  const onward = connect(`http://${address}`);
  onward.on('error', () => session.destroy()).on('close', () => session.destroy());
  session.on('error', () => onward.destroy()).on('close', () => onward.destroy());
  return onward;
}

function keyProblem({ authorization }: IncomingHttpHeaders, keys: readonly string[] | null): Refusal | null {
  if (keys === null || keys.some((key) => authorization === `Bearer ${key}`)) return null;
  return { status: STATUS.unauthenticated, message: 'Request unauthorized.' };
}

function refuseCall(stream: ServerHttp2Stream, { status, message }: Refusal): void {
  stream.on('error', () => undefined).resume();
  const headers = {
    ':status': 200,
    'content-type': 'application/grpc',
    'grpc-status': status,
    'grpc-message': message,
  };
  stream.respond(headers, { endStream: true });
}

function forward(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, onward: ClientHttp2Session): void {
  const call = onward.request({ ...headers, ':scheme': 'http' });
  const cancel = (it: Http2Stream) => () => it.close(constants.NGHTTP2_CANCEL);
  stream.on('error', () => undefined).on('aborted', cancel(call));
  call.on('error', () => undefined).on('aborted', cancel(stream));
  call.on('response', (answer, flags) => {
    if (stream.destroyed) return;
    const isWhole = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
    stream.respond(answer, { endStream: isWhole, waitForTrailers: !isWhole });
  });
  let trailers: IncomingHttpHeaders = {};
  call.on('trailers', (last: IncomingHttpHeaders) => void (trailers = last));
  stream.on('wantTrailers', () => stream.sendTrailers(trailers));
  stream.pipe(call);
  call.pipe(stream);
}
