/** Serves the board over HTTP. No request changes anything. */
import { createHash } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { openSession, type ConnectOptions } from '../../client/session.ts';
import { ConfigError } from '../../config/environment/variables.ts';
import type { ServiceConfig } from '../../config/environment/environment.ts';
import { isSameSecret, listen, openSecret, type WantedPort } from '../../config/environment/http-server.ts';
import { isLoopback } from '../../config/environment/service-url.ts';
import { TIMING } from '../../contract/timing.ts';
import { parseDuration } from '../../contract/duration.ts';
import type { Logger } from '../../process/log.ts';
import { ICON, SCRIPT, STYLE } from './assets.ts';
import { createBoard, type Board } from './board.ts';
import { boardPage, errorPage, targetPage } from './page.ts';
import type { BoardSubject } from './past.ts';
import type { BoardStatus } from './status.ts';

/** Who may read the board. With neither a secret nor a proxy, it is on loopback, and everyone who reaches it may read. */
export interface BoardGuards {
  /** Listens on loopback only, where it answers to no other name than that of this machine. */
  isLoopback: boolean;
  /** Called for every request. Null if no secret is accepted. */
  secret: (() => Promise<string>) | null;
  /** The header in which a proxy names the person it authenticated. Null if no proxy is trusted. */
  identity: { header: string; proxies: BlockList } | null;
}

export interface BoardServerOptions {
  host: string;
  port: WantedPort;
  secretFile?: string;
  /** The header in which a proxy names the person it authenticated. */
  identityHeader?: string;
  trustedProxy?: readonly string[];
  receipts?: string;
  service: ServiceConfig | null;
  /** Default: the Temporal from the environment. */
  temporal?: ConnectOptions;
  log: Pick<Logger, 'warn'>;
}

/** @throws ConfigError, or BelayError for a mistake about Temporal */
export async function startBoard(options: BoardServerOptions): Promise<{ url: string; close: () => Promise<void> }> {
  const { host, port, service, receipts, temporal = {}, log } = options;
  const guards = await guardsOf(options);
  const { session, close } = await openSession(temporal, { lazy: true });
  const board = createBoard({ session, service, receipts });
  const app = createBoardServer({ board, guards, log });
  const end = async () => {
    board.stop();
    await app.close();
    await close();
  };
  try {
    return { url: await listen(app, { host, port }), close: end };
  } catch (error) {
    await end();
    throw error;
  }
}

async function guardsOf(options: BoardServerOptions): Promise<BoardGuards> {
  const { host, secretFile, identityHeader, trustedProxy: proxies = [] } = options;
  if ((identityHeader === undefined) !== (proxies.length === 0))
    throw new ConfigError('--identity-header and --trusted-proxy belong together: give both, or neither');
  const secret = secretFile === undefined ? null : await openSecret('--secret-file', secretFile);
  if (!isLoopback(host) && secret === null && identityHeader === undefined) {
    const remedy = 'give --secret-file, or --identity-header and --trusted-proxy behind a proxy that signs people in';
    throw new ConfigError(`--host ${host}: beyond loopback, anyone could read the board: ${remedy}`);
  }
  const identity =
    identityHeader === undefined ? null : { header: headerName(identityHeader), proxies: blockListOf(proxies) };
  return { isLoopback: isLoopback(host), secret, identity };
}

function headerName(text: string): string {
  const name = text.toLowerCase();
  if (/^[a-z0-9-]+$/.test(name) && !['authorization', 'cookie', 'host'].includes(name)) return name;
  throw new ConfigError(`--identity-header ${text}: give the name of a header, such as X-Forwarded-User`);
}

function blockListOf(proxies: readonly string[]): BlockList {
  const list = new BlockList();
  for (const proxy of proxies) {
    const [address = '', bits] = proxy.split('/');
    const [family, most] = isIP(address) === 6 ? (['ipv6', 128] as const) : (['ipv4', 32] as const);
    const isLengthValid = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most);
    if (isIP(address) === 0 || !isLengthValid)
      throw new ConfigError(`--trusted-proxy ${proxy}: give an address or a network, such as 10.0.0.5 or 10.0.0.0/24`);
    list.addSubnet(address, bits === undefined ? most : Number(bits), family);
  }
  return list;
}

const HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'private, no-cache',
};

interface ServerParts {
  board: Pick<Board, 'look' | 'status' | 'target'>;
  guards: BoardGuards;
  log: Pick<Logger, 'warn'>;
}

export function createBoardServer({ board, guards, log }: ServerParts): FastifyInstance {
  const app = fastify({
    bodyLimit: 1_024,
    requestTimeout: TIMING.board.requestMs,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: 1_024, ignoreTrailingSlash: true },
  });
  app.addHook('onRequest', async (request, reply) => {
    void reply.headers(HEADERS);
    if (guards.isLoopback && !isOwnName(request))
      return refuse(reply, 421, 'This board answers to localhost, 127.0.0.1 and [::1] with its port only.');
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return refuse(reply.header('allow', 'GET, HEAD'), 405, 'The board changes nothing: use GET or HEAD.');
    if (request.url === '/healthz' || (await isAllowed(guards, request))) return;
    if (guards.secret !== null)
      void reply.header('www-authenticate', ['Basic realm="Belay board", charset="UTF-8"', 'Bearer']);
    return refuse(reply, 401, 'The secret is missing or wrong.');
  });
  app.setErrorHandler<Error & { statusCode?: number }>((error, request, reply) => {
    const code = error.statusCode ?? 500;
    log.warn({ path: request.url.slice(0, 200), code, problem: error.message }, 'could not answer a request');
    return refuse(reply, code, code < 500 ? 'The request is wrong.' : 'See the log of the board.');
  });
  app.setNotFoundHandler((_request, reply) => refuse(reply, 404, 'There is no such page.'));

  app.get('/healthz', async () => ({ status: 'ok' }));
  for (const [path, type, body] of [
    ['/board.css', 'text/css; charset=utf-8', STYLE],
    ['/board.js', 'text/javascript; charset=utf-8', SCRIPT],
    ['/board.svg', 'image/svg+xml', ICON],
  ] as const)
    app.get(path, async (request, reply) => answer(request, reply.type(type), body, body));

  for (const [path, type, bodyOf] of [
    ['/', HTML, boardPage],
    ['/status.json', JSON_TYPE, (status: BoardStatus) => JSON.stringify(status)],
  ] as const)
    app.get(path, async (request, reply) => {
      const since = sinceOf(request);
      if (since === undefined) return refuse(reply, 400, SINCE_REMEDY);
      await board.look();
      const status = board.status(since);
      return answer(request, reply.type(type).headers(readHeader(status)), bodyOf(status), contentOf(status));
    });
  for (const kind of ['site', 'app', 'server'] as const)
    app.get<{ Params: { id: string } }>(`/${kind}s/:id`, async (request, reply) => {
      await board.look();
      const subject: BoardSubject = { kind, id: request.params.id };
      const found = board.target(subject);
      if (found === null) return refuse(reply, 404, `The board knows no ${kind} with this id.`);
      const status = board.status();
      const content = [{ ...found.row, serviceReadAt: null }, found.past, status.problems];
      return answer(request, reply.type(HTML).headers(readHeader(status)), targetPage(found, status), content);
    });
  return app;
}

const HTML = 'text/html; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';
const SINCE_REMEDY = 'since: give a duration like 12h or 7d, or a time like 2027-01-04T06:00:00Z.';

function refuse(reply: FastifyReply, code: number, message: string): FastifyReply {
  void reply.code(code);
  if (reply.request.url.startsWith('/status.json')) return reply.type(JSON_TYPE).send(JSON.stringify({ message }));
  return reply.type(HTML).send(errorPage(code, message));
}

/** Rejects a page under another name (DNS rebinding). */
function isOwnName({ headers: { host = '' }, socket: { localPort } }: FastifyRequest): boolean {
  const [, name = '', port = '80'] = /^(localhost|127\.0\.0\.1|\[::1\])(?::(\d+))?$/i.exec(host) ?? [];
  return name !== '' && Number(port) === localPort;
}

async function isAllowed(
  { isLoopback: isLocal, secret, identity }: BoardGuards,
  request: FastifyRequest,
): Promise<boolean> {
  if (secret === null && identity === null) return isLocal;
  if (identity !== null && isFromProxy(identity.proxies, request.socket.remoteAddress ?? '')) {
    const named = request.headers[identity.header];
    if (typeof named === 'string' && named.trim() !== '') return true;
  }
  const sent = sentSecret(request);
  return secret !== null && sent !== null && isSameSecret(sent, await secret());
}

function isFromProxy(proxies: BlockList, address: string): boolean {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
  return isIP(mapped) !== 0 && proxies.check(mapped, isIP(mapped) === 6 ? 'ipv6' : 'ipv4');
}

/** Browsers send a user, too. Only the password counts. */
function sentSecret({ headers: { authorization = '' } }: FastifyRequest): string | null {
  const [, scheme = '', sent = ''] = /^(bearer|basic) +(\S+)$/i.exec(authorization) ?? [];
  if (scheme === '') return null;
  return scheme.toLowerCase() === 'bearer'
    ? sent
    : Buffer.from(sent, 'base64')
        .toString('utf8')
        .replace(/^[^:]*:/, '');
}

/** @returns null if it is not given; undefined if it is neither a duration nor a time */
function sinceOf({ query }: FastifyRequest): string | null | undefined {
  const { since } = query as Record<string, unknown>;
  if (since === undefined || since === '') return null;
  if (typeof since !== 'string' || since.length > 40) return undefined;
  const ms = parseDuration(since);
  const atMs = ms === null ? Date.parse(since) : Date.now() - ms;
  return Number.isFinite(atMs) && Math.abs(atMs) < 8.64e15 ? new Date(atMs).toISOString() : undefined;
}

/** Leaves out the times of reads, which differ with every answer. */
const contentOf = ({ targets, ...status }: BoardStatus): object => ({
  ...status,
  targets: targets.map((it) => ({ ...it, serviceReadAt: null })),
  readAt: null,
  since: null,
});

/** An answer 304 has no body, so a header carries the time of the read. */
const readHeader = ({ readAt }: BoardStatus): Record<string, string> =>
  readAt === null ? {} : { 'belay-read-at': readAt };

/**
 * Answers 304 if nothing changed but the time of the last read.
 *
 * @param content the part whose changes count
 */
function answer(request: FastifyRequest, reply: FastifyReply, body: string, content: unknown): FastifyReply {
  const etag = `W/"${createHash('sha256').update(JSON.stringify(content)).digest('base64url').slice(0, 22)}"`;
  void reply.header('etag', etag);
  const known = (request.headers['if-none-match'] ?? '').split(',').map((it) => it.trim());
  return known.includes(etag) || known.includes('*') ? reply.code(304).send() : reply.send(body);
}
