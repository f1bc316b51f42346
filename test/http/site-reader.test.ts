/** What a check reads of a site. Names are resolved and connections made by the tests, so that no packet leaves the machine. */
import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import { connect, type AddressInfo, type LookupFunction } from 'node:net';
import { before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { compileCheck, createSiteReader, type Network, type SiteRequest } from '../../src/site-check/index.ts';
import { atEnd } from '../support/at-end.ts';

const PUBLIC = '93.184.216.34';
const MB = 1024 * 1024;
/** Made before any request, whose time is limited. */
const BOMB = gzipSync(Buffer.alloc(64 * MB));

const ANSWERS: Record<string, RequestListener> = {
  '/ok': (_request, response) => response.end('{"commit":"3f2c1ab"}'),
  '/large': (_request, response) => response.end('x'.repeat(MB)),
  '/bomb': (_request, response) => response.setHeader('content-encoding', 'gzip').end(BOMB),
  '/zipped': (_request, response) => response.setHeader('content-encoding', 'gzip').end(gzipSync('all is well')),
  '/odd': (_request, response) => response.setHeader('content-encoding', 'zstd').end('?'),
  '/headers': (_request, response) => response.setHeader('x-long', 'h'.repeat(20_000)).end(),
  '/silent': () => undefined,
  '/slow': (_request, response) => void response.write('begun'),
  '/websocket': ({ socket }) =>
    void socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'),
  '/cut': (_request, response) => {
    response.setHeader('content-length', 100).write('begun');
    setImmediate(() => response.destroy());
  },
  '/metadata': (_request, response) =>
    response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data/' }).end(),
  '/elsewhere': (_request, response) => response.writeHead(302, { location: 'https://site.example/ok' }).end(),
  '/within': (_request, response) => response.writeHead(301, { location: '/ok' }).end(),
  '/round': (_request, response) => response.writeHead(302, { location: '/round' }).end(),
  '/echo': ({ headers: { authorization = '' } }, response) => {
    const [, token = ''] = authorization.split(' ');
    const status = `${'x'.repeat(30)} the token ${authorization} of ${token} is over`;
    response.setHeader('x-token', `${token} ${encodeURIComponent(authorization)}`);
    response.end(JSON.stringify({ status, commit: token }));
  },
  '/to-echo': ({ headers: { authorization = '' } }, response) =>
    response.writeHead(302, { location: `https://${authorization.split(' ')[1]}.example/` }).end(),
  '/secret': (request, response) => response.end(String(request.headers.authorization)),
};

let port = 0;
/** The addresses that connections were asked for. */
const connectedTo: string[] = [];
let looked = 0;

before(async () => {
  const server = createServer((request, response) => ANSWERS[request.url ?? '']?.(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
  atEnd(() => {
    server.closeAllConnections();
    server.close();
    return Promise.resolve();
  });
});

/** Reaches the server above, whatever address was judged, and notes that address. */
function networkOf(...addresses: string[][]): Network {
  return {
    resolve: (host) => {
      looked += 1;
      if (host === 'unknown.example') return Promise.reject(Object.assign(new Error(), { code: 'ENOTFOUND' }));
      const found = addresses.length > 1 ? addresses.shift()! : addresses[0]!;
      return Promise.resolve(found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })));
    },
    createConnection: ({ lookup, host }) => {
      (lookup as LookupFunction)(host ?? '', { all: true }, (_error, all) => {
        for (const { address } of all as { address: string }[]) connectedTo.push(address);
      });
      return connect(port, '127.0.0.1');
    },
  };
}

const read = (
  path: string,
  {
    network = networkOf([PUBLIC]),
    host = 'site.example',
    ...change
  }: Partial<SiteRequest> & { network?: Network; host?: string } = {},
) =>
  createSiteReader(network)({
    url: `http://${host}${path}`,
    check: compileCheck({ commit: { json: 'commit' } }),
    headers: () => Promise.resolve({}),
    // Only the tests of a time limit should meet one.
    timeoutMs: 30_000,
    follow: false,
    isPrivateSite: false,
    ...change,
  });

const nothing = (why: RegExp, { kind, why: actual }: Awaited<ReturnType<typeof read>>) => {
  assert.equal(kind, 'nothing');
  assert.match(actual ?? '', why);
};

describe('a check reads a site', () => {
  test('and its commit', async () => {
    assert.deepEqual(await read('/ok'), { kind: 'holds', httpStatus: 200, commit: '3f2c1ab', why: null });
  });

  test('that compresses its answer', async () => {
    assert.equal((await read('/zipped', { check: compileCheck({ body: 'all is well' }) })).kind, 'holds');
  });

  for (const path of ['/large', '/bomb', '/headers']) {
    test(`with a limit: ${path} fails, and fills no memory`, async () => {
      const before = process.memoryUsage().rss;
      const { kind, why } = await read(path);
      assert.equal(kind, 'fails');
      assert.match(why ?? '', /over \d+ bytes/);
      assert.ok(process.memoryUsage().rss - before < 48 * MB);
    });
  }

  for (const path of ['/silent', '/slow', '/websocket']) {
    test(`for a limited time: ${path} is no answer`, async () => {
      nothing(/no complete answer within 300 ms/, await read(path, { timeoutMs: 300 }));
    });
  }

  test('and takes a broken or oddly encoded answer for none', async () => {
    nothing(/no answer \(/, await read('/cut'));
    nothing(/encoded in a way/, await read('/odd'));
  });

  test('and does not follow a redirect unless it is asked to', async () => {
    const { kind, httpStatus } = await read('/within');
    assert.deepEqual([kind, httpStatus], ['fails', 301]);
    assert.equal((await read('/within', { follow: true })).kind, 'holds');
    nothing(/more than 3 redirects/, await read('/round', { follow: true }));
  });

  test('and never follows a redirect to another host, port or protocol', async () => {
    const before = connectedTo.length;
    nothing(/redirected to http:\/\/169.254.169.254/, await read('/metadata', { follow: true }));
    nothing(/redirected to https:\/\/site.example/, await read('/elsewhere', { follow: true }));
    assert.equal(connectedTo.length, before + 2);
  });

  test('and refuses a name with one private address among public ones, before it connects', async () => {
    const before = connectedTo.length;
    nothing(
      /not asked: 10.0.0.7 is not a public address/,
      await read('/ok', { network: networkOf([PUBLIC, '10.0.0.7']) }),
    );
    nothing(
      /not asked: 169.254.169.254/,
      await read('/ok', { network: networkOf(['169.254.169.254']), isPrivateSite: true }),
    );
    nothing(/not asked: 127.0.0.1/, await read('/ok', { host: '127.0.0.1' }));
    nothing(/not asked: ::1/, await read('/ok', { host: '[::1]' }));
    assert.equal(connectedTo.length, before);
  });

  test('at the address that was judged, although the name has another one a moment later', async () => {
    const [connections, lookUps] = [connectedTo.length, looked];
    assert.equal((await read('/ok', { network: networkOf([PUBLIC], ['127.0.0.1']) })).kind, 'holds');
    assert.deepEqual(connectedTo.slice(connections), [PUBLIC]);
    assert.equal(looked, lookUps + 1);
  });

  test('whose redirect is judged anew', async () => {
    const network = networkOf([PUBLIC], ['10.0.0.7']);
    nothing(/not asked: 10.0.0.7/, await read('/within', { network, follow: true }));
  });

  test('and reports a name that is unknown', async () => {
    nothing(/cannot be looked up \(ENOTFOUND\)/, await read('/ok', { host: 'unknown.example' }));
  });

  test('with the headers that are asked for, read for each request', async () => {
    let secret = 0;
    const headers = () => Promise.resolve({ authorization: `s${(secret += 1)}` });
    const first = await read('/secret', { headers, check: compileCheck({ body: '/^s1$/' }) });
    const second = await read('/secret', { headers, check: compileCheck({ body: '/^s2$/' }) });
    assert.deepEqual([first.kind, second.kind], ['holds', 'holds']);
  });
});

describe('a page that repeats a header of its request', () => {
  const SECRET = 'Bearer 0123456789ABCDEF';
  const headers = () => Promise.resolve({ authorization: SECRET });

  for (const [what, path, rules, why] of [
    [
      'JSON',
      '/echo',
      { json: { status: 'ok' } },
      `status is "${'x'.repeat(30)} the token [hidden] of [hidden", expected ok`,
    ],
    ['a header', '/echo', { header: { 'x-token': 'ok' } }, 'header x-token is "[hidden] [hidden]", expected ok'],
    [
      'the host of a redirect',
      '/to-echo',
      {},
      'redirected to https://[hidden].example, and a check stays with its site',
    ],
  ] as const)
    test(`in ${what} does not put it into what is kept`, async () => {
      const found = await read(path, { headers, follow: true, check: compileCheck(rules) });
      assert.equal(found.why, why);
      assert.doesNotMatch(JSON.stringify(found), /0123|9abc/i);
    });

  test('as its commit shows no commit', async () => {
    for (const commit of [{ json: 'commit' }, { header: 'x-token' }, { body: '/Bearer ([0-9A-F]{10})/' }])
      assert.equal((await read('/echo', { headers, check: compileCheck({ commit }) })).commit, null);
  });

  test('is judged by what it shows', async () => {
    const found = await read('/echo', { headers, check: compileCheck({ body: `/token ${SECRET}/` }) });
    assert.equal(found.kind, 'holds');
  });
});
