/** Sites and checks as belay.yaml has them. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { policyOf } from '../../src/config/policy.ts';
import { readText } from '../support/configuration-file.ts';

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'belay-test-'));
});
after(() => rm(folder, { recursive: true, force: true }));

const read = (text: string) => readText(folder, text);

const SITE = 'url: https://shop.example.com, check: shop';
const file = (site: string, check: string) => `sites:\n  34: { ${site} }\nchecks:\n  shop: { ${check} }\n`;

describe('the check of a site', () => {
  test('has defaults, and reads the path below the url', async () => {
    const policy = policyOf(await read(file(SITE, 'path: /healthz')));
    const { plan, request } = policy.checkOf('34') ?? assert.fail('34 has no check');
    assert.deepEqual(plan, {
      ...{ siteId: '34', name: 'shop', intervalMs: 5_000, tries: 24, inARow: 3, showsCommit: false },
    });
    assert.deepEqual(
      [request.url, request.timeoutMs, request.follow, request.isPrivateSite],
      ['https://shop.example.com/healthz', 5_000, false, false],
    );
  });

  test('is that of its site only', async () => {
    const policy = policyOf(await read(`${file(SITE, 'status: 200')}  other: { status: 2xx }\n`));
    assert.deepEqual([policy.checkOf('35'), policy.checkOf('shop')], [null, null]);
  });

  test('expects numbers with the digits that the file has', async () => {
    const numbers = 'json: { version: 1.10, build: 0012, id: 20261128123456789 }, header: { x-version: 2.0 }';
    const { checks } = await read(file(SITE, numbers));
    assert.deepEqual(checks?.shop?.json, { version: '1.10', build: '0012', id: '20261128123456789' });
    assert.deepEqual(checks?.shop?.header, { 'x-version': '2.0' });
  });

  test('reads its secrets again for each request', async () => {
    const secret = join(folder, 'secret');
    await writeFile(secret, 'first\n');
    const policy = policyOf(await read(file(SITE, `requestHeaders: { authorization: { file: ${secret} }, x: plain }`)));
    const { headers } = (policy.checkOf('34') ?? assert.fail('34 has no check')).request;
    assert.deepEqual(await headers(), { authorization: 'first', x: 'plain' });
    await writeFile(secret, 'second\n');
    assert.deepEqual(await headers(), { authorization: 'second', x: 'plain' });
  });
});

const IN_CHECKS: [what: string, check: string, error: RegExp][] = [
  ['a path with a host', 'path: //evil.example', /checks\.shop\.path: write a path like \/healthz: without a host/],
  ['a path without a slash', 'path: healthz', /checks\.shop\.path: write a path/],
  ['a status that is none', 'status: 700', /checks\.shop\.status.*write a status like 200, a class like 2xx/],
  ['an expression of another syntax', 'body: "/(?=a)b/"', /checks\.shop: an expression cannot be used/],
  ['a commit expression without a group', 'commit: { body: /abc/ }', /checks\.shop: an expression cannot be used/],
  ['a commit with two places', 'commit: { json: a, header: b }', /checks\.shop\.commit: write one of json/],
  [
    'a header with a line break',
    'requestHeaders: { a: "b\\nc" }',
    /checks\.shop\.requestHeaders\.a: write a text of one line/,
  ],
  [
    'more reads in a row than tries',
    'inARow: 4, tries: 3',
    /checks\.shop\.inARow: it is more than the 3 tries: lower it/,
  ],
  ['more than an hour', 'interval: 10m, tries: 7', /checks\.shop\.tries: with an interval of 10m.*at most 1h/],
  ['a long timeout', 'timeout: 16s', /checks\.shop\.timeout/],
  ['an unknown key', 'stauts: 200', /checks\.shop.*stauts/],
];

const IN_SITES: [what: string, site: string, error: RegExp][] = [
  ['a url with a user', 'url: https://me:pw@shop.example.com', /sites\.34\.url: write the address without user, query/],
  ['a url with a query', 'url: https://shop.example.com/?a=1', /sites\.34\.url: write the address without user, query/],
  ['a url of another protocol', 'url: ftp://shop.example.com', /sites\.34\.url: write an address like https:/],
  ['no url', 'check: shop', /sites\.34/],
  [
    'a check that nobody has',
    `url: https://a.example, check: shops`,
    /sites\.34\.check: there is no check shops.*shop/,
  ],
];

describe('belay.yaml is refused with the place and the remedy for', () => {
  for (const [what, check, error] of IN_CHECKS) {
    test(what, () => assert.rejects(read(file(SITE, check)), error));
  }
  for (const [what, site, error] of IN_SITES) {
    test(what, () => assert.rejects(read(file(site, 'status: 200')), error));
  }

  test('a url with http, unless it is allowed', async () => {
    const configuration = await read(file('url: http://shop.example.com, check: shop', 'status: 200'));
    assert.throws(() => policyOf(configuration), /sites\.34\.url: .*https:\/\/; for http:\/\/, set BELAY_ALLOW_HTTP=1/);
  });

  test('a secret whose variable is not set', async () => {
    const configuration = await read(file(SITE, 'requestHeaders: { a: { env: BELAY_TEST_MISSING } }'));
    assert.throws(() => policyOf(configuration), /checks\.shop\.requestHeaders\.a: .*BELAY_TEST_MISSING/);
  });
});
