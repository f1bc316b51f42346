/**
 * Connections to the service through a proxy. A request gets its socket only once the tunnel stands and, for https, the
 * service has completed the TLS handshake in it. Whatever fails before that has certainly sent nothing.
 */
import http from 'node:http';
import https from 'node:https';
import { isIP, type Socket } from 'node:net';
import tls from 'node:tls';

/** The request itself gives up sooner. */
const ABANDONED_AFTER_MS = 30_000;

type Created = (error: Error | null, socket: Socket) => void;
type Wanted = http.ClientRequestArgs & tls.ConnectionOptions;

/** @param proxy its URL, with a user and password if it needs them */
export function createTunnels(proxy: string): (secure: boolean) => http.Agent {
  return (secure) => new TunnelAgent(new URL(proxy), secure);
}

class TunnelAgent extends http.Agent {
  /** Node compares it with the protocol of each request. */
  readonly protocol: string;
  /** Node takes it for requests whose URL names no port. */
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
      host: this.#proxy.hostname,
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
