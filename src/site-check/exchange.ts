/** Makes one GET of a site, or a few with redirects, within one time and size limit. */
import http from 'node:http';
import https from 'node:https';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Readable } from 'node:stream';
import { NoAnswer, Oversized, fixedLookup, judgedAddresses, type Resolve } from './resolve.ts';

const MAX_BODY_BYTES = 64 * 1024;
const MAX_HEADER_BYTES = 16 * 1024;
const MAX_REDIRECTS = 3;

export interface Page {
  status: number;
  /** The names are in lower case. */
  headers: Record<string, string>;
  body: string;
}

export interface PageRequest {
  url: URL;
  headers: Record<string, string>;
  timeoutMs: number;
  /** The limit for the unpacked body. Default: 64 KiB. */
  maxBytes?: number;
  /** Whether to follow redirects within the site. */
  follow: boolean;
  isPrivateSite: boolean;
}

/** How to reach a network. Tests replace it, so that no packet leaves the machine. */
export interface Network {
  resolve: Resolve;
  /** Default: a connection to the judged address. */
  createConnection?: http.RequestOptions['createConnection'];
}

/** @throws NoAnswer, Oversized */
export async function getPage(request: PageRequest, network: Network): Promise<Page> {
  const signal = AbortSignal.timeout(request.timeoutMs);
  try {
    return await orAborted(follow(request, network, signal), signal);
  } catch (error) {
    if (signal.aborted) throw new NoAnswer(`no complete answer within ${request.timeoutMs} ms`);
    throw error;
  }
}

async function follow(request: PageRequest, network: Network, signal: AbortSignal): Promise<Page> {
  let { url } = request;
  for (let redirects = 0; ; redirects += 1) {
    const page = await getOnce({ ...request, url }, network, signal);
    const next = request.follow ? redirectOf(page, url) : null;
    if (next === null) return page;
    if (redirects === MAX_REDIRECTS) throw new NoAnswer(`more than ${MAX_REDIRECTS} redirects`);
    url = next;
  }
}

/** @returns null for an answer that is not a redirect */
function redirectOf({ status, headers: { location } }: Page, from: URL): URL | null {
  if (![301, 302, 303, 307, 308].includes(status) || location === undefined) return null;
  if (!URL.canParse(location, from.href)) throw new NoAnswer('redirected to an address that is not valid');
  const to = new URL(location, from);
  if (to.host !== from.host || to.protocol !== from.protocol)
    throw new NoAnswer(`redirected to ${to.protocol}//${to.host}, and a check stays with its site`);
  return to;
}

async function getOnce(request: PageRequest, network: Network, signal: AbortSignal): Promise<Page> {
  const { url, headers, isPrivateSite, maxBytes = MAX_BODY_BYTES } = request;
  const judged = await judgedAddresses(url, isPrivateSite, network.resolve);
  const { request: send } = url.protocol === 'https:' ? https : http;
  return new Promise<Page>((resolve, reject) => {
    const options: https.RequestOptions = {
      method: 'GET',
      headers: {
        ...headers,
        'Cache-Control': 'no-cache',
        'User-Agent': 'belay',
        'Accept-Encoding': 'gzip, br, deflate',
      },
      lookup: fixedLookup(judged),
      maxHeaderSize: MAX_HEADER_BYTES,
      signal,
      // Without a pool, no connection from another look-up is reused.
      ...(network.createConnection === undefined ? { agent: false } : { createConnection: network.createConnection }),
    };
    const sent = send(url, options, (response) => {
      readBody(response, maxBytes).then(
        (body) => resolve({ status: response.statusCode ?? 0, headers: textHeaders(response.headers), body }),
        (error: unknown) => {
          sent.destroy();
          reject(asProblem(error));
        },
      );
    });
    sent.once('error', (error) => reject(asProblem(error)));
    sent.end();
  });
}

/** A look-up cannot be aborted, and a request that was answered with another protocol never ends. */
const orAborted = <T>(promise: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    promise.then(resolve, reject);
  });

function textHeaders(headers: http.IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  );
}

const DECODERS: Record<string, () => NodeJS.ReadWriteStream & Readable> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** Counts what the decoder returns, so that a small answer cannot fill the memory. */
async function readBody(response: http.IncomingMessage, maxBytes: number): Promise<string> {
  const encoding = response.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  const decoder = DECODERS[encoding]?.();
  if (decoder === undefined && encoding !== 'identity' && encoding !== '')
    throw new NoAnswer('the answer is encoded in a way that was not asked for');
  const source: Readable =
    decoder === undefined ? response : response.on('error', (it) => decoder.destroy(it)).pipe(decoder);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of source) {
    bytes += (chunk as Buffer).length;
    if (bytes > maxBytes) throw new Oversized(`the answer is over ${maxBytes} bytes`);
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function asProblem(error: unknown): Error {
  if (error instanceof NoAnswer || error instanceof Oversized) return error;
  const { code = 'unknown error' } = error as NodeJS.ErrnoException;
  if (code === 'HPE_HEADER_OVERFLOW') return new Oversized(`the headers are over ${MAX_HEADER_BYTES} bytes`);
  return new NoAnswer(`no answer (${code})`);
}
