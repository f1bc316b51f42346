/** Gates that measure a page. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { measure, type GetPage } from '../../src/features/gates/worker-measure.ts';
import { NoAnswer, Oversized } from '../../src/site-check/index.ts';
import { policyOf } from '../../src/config/policy.ts';
import { readText } from '../support/configuration-file.ts';

type Rule = Extract<Parameters<typeof measure>[0], { kind: 'http' }>;

const NO_WORDS = { hosts: [], sites: [], servers: [], wave: ['canary'], seconds: 300 };
const PLACE = { address: 'http://ci.internal/smoke?of=shop', headers: { 'x-key': 'k' } };

const page =
  (body: unknown, status = 200, headers: Record<string, string> = {}): GetPage =>
  () =>
    Promise.resolve({ status, headers, body: typeof body === 'string' ? body : JSON.stringify(body) });
const fails =
  (error: Error): GetPage =>
  () =>
    Promise.reject(error);
const take = (rule: Omit<Rule, 'kind'>, getPage: GetPage) =>
  measure({ kind: 'http', ...rule }, NO_WORDS, PLACE, getPage);

describe('a measurement of a page', () => {
  test('asks its address with its headers, and follows no redirect', async () => {
    const asked: Parameters<GetPage>[0][] = [];
    await take({ status: ['200'] }, (request) => {
      asked.push(request);
      return page('')(request);
    });
    const [{ url, ...rest }] = asked as [Parameters<GetPage>[0]];
    assert.equal(url.href, PLACE.address);
    const limits = { timeoutMs: 10_000, maxBytes: 1024 * 1024, follow: false, isPrivateSite: true };
    assert.deepEqual(rest, { headers: PLACE.headers, ...limits });
  });

  const VALUE = { value: 'result.rate', max: 0.01 };
  const OK = { json: { 'result.ok': 'true' } };
  const ENOUGH = { ...VALUE, atLeast: { value: 'result.requests', min: 20 } };
  const rate = (value: unknown, more: object = {}) => page({ result: { rate: value, ...more } });

  for (const [what, rule, getPage, state, text] of [
    ['a met expectation', OK, page({ result: { ok: true } }), 'good', 'as expected'],
    ['an unmet one', OK, page({ result: { ok: false } }), 'bad', 'result.ok is "false", expected true'],
    ['a path that is missing', OK, page({ result: {} }), 'none', 'no data: result.ok is missing, expected true'],
    ['a path that is not to be there', { json: { error: '!/./' } }, page({}), 'good', 'as expected'],
    ['an unmet header', { header: { 'x-ok': '1' } }, page(''), 'bad', 'header x-ok is missing, expected 1'],
    ['an unmet body', { body: { not: 'error' } }, page('an error'), 'bad', 'the body does not match !error'],
    ['no JSON', OK, page('<html>'), 'error', 'the answer is not JSON'],
    ['no JSON, where none is needed', { body: 'html' }, page('<html>'), 'good', 'as expected'],
    [
      'an unmet expectation and a missing value',
      { json: { a: '1', b: '1' } },
      page({ b: 2 }),
      'bad',
      'b is "2", expected 1',
    ],
    ['a number within its limits', VALUE, rate(0.004), 'good', '0.004 (max 0.01) of result.rate'],
    ['a number in a text', VALUE, rate('0.004'), 'good', '0.004 (max 0.01) of result.rate'],
    ['more digits than expected', { json: { id: '1' } }, page('{"id":1.0}'), 'bad', 'id is "1.0", expected 1'],
    ['a number beyond its limits', VALUE, rate(0.03), 'bad', '0.03 > 0.01 of result.rate'],
    ['an endless number', VALUE, page('{"result":{"rate":1e999}}'), 'bad', 'Infinity > 0.01 of result.rate'],
    ['a number that is missing', VALUE, page({ result: {} }), 'none', 'no data: result.rate is missing'],
    ['a number that is null', VALUE, rate(null), 'none', 'no data: result.rate is missing'],
    ['a word', VALUE, rate('information'), 'none', 'no data: result.rate is "information", which is not a number'],
    ['enough', ENOUGH, rate(0.004, { requests: 20 }), 'good', '0.004 (max 0.01) of result.rate'],
    ['too little', ENOUGH, rate(0.03, { requests: 7 }), 'none', 'no data: result.requests is 7, and has to be 20'],
    ['no amount', ENOUGH, rate(0.03), 'none', 'no data: result.requests is missing, and has to be 20'],
    [
      'a good number and an unmet expectation',
      { ...VALUE, ...OK },
      rate(0.004, { ok: 1 }),
      'bad',
      'result.ok is "1", expected true',
    ],
    ['a bad number and a missing value', { ...VALUE, ...OK }, rate(0.03), 'bad', '0.03 > 0.01 of result.rate'],
    [
      'a good number and a missing value',
      { ...VALUE, ...OK },
      rate(0.004),
      'none',
      'no data: result.ok is missing, expected true',
    ],
    ['404', OK, page('', 404), 'bad', 'status 404, expected 2xx'],
    ['302', OK, page('', 302), 'error', 'status 302, expected 2xx'],
    ['401', OK, page('', 401), 'error', 'status 401, expected 2xx'],
    ['429', OK, page('', 429), 'error', 'status 429, expected 2xx'],
    ['503', OK, page({ result: { ok: false } }, 503), 'error', 'status 503, expected 2xx'],
    [
      '503 that is expected',
      { status: ['503'], ...OK },
      page({ result: { ok: false } }, 503),
      'bad',
      'result.ok is "false", expected true',
    ],
    ['no answer', OK, fails(new NoAnswer('the name ci.internal has no address')), 'error', 'its name has no address'],
    [
      'too long an answer',
      OK,
      fails(new Oversized('the answer is over 9 bytes')),
      'error',
      'the answer is over 9 bytes',
    ],
  ] as const) {
    test(`of ${what} is ${state}`, async () => {
      const measured = await take(rule, getPage);
      assert.deepEqual([measured.state, measured.text], [state, text]);
    });
  }

  test('keeps the number that it found', async () => {
    assert.equal((await take(VALUE, rate(0.03))).value, '0.03');
    assert.equal((await take(VALUE, page(`{"result":{"rate":0.03${'0'.repeat(9_000)}}}`))).value, '0.03');
  });
});

describe('an answer that repeats a secret of its request', () => {
  const SECRET = '0123456789abcdef';
  const ADDRESS = `https://ci.internal/${SECRET}/smoke?key=canary-7f3a`;
  const prometheus = (data: object, status = 200) => page({ status: 'success', data }, status);
  const series = (value: string, label = 'a') =>
    prometheus({ resultType: 'vector', result: [{ metric: { of: label }, value: [1, value] }] });
  const QUERY = { kind: 'prometheus', query: 'up', max: 1 } as const;
  const long = `${'x'.repeat(45)} ${SECRET}`;

  for (const [what, rule, answer, text] of [
    [
      'a number',
      { kind: 'http', value: 'n', max: 1 },
      page({ n: `no ${SECRET}` }),
      'no data: n is "no [hidden]", which is not a number',
    ],
    [
      'a number that is cut',
      { kind: 'http', value: 'n', max: 1 },
      page({ n: long }),
      `no data: n is "${'x'.repeat(45)} [hidden]", which is not a number`,
    ],
    ['JSON', { kind: 'http', json: { ok: '1' } }, page({ ok: `Bearer ${SECRET}` }), 'ok is "[hidden]", expected 1'],
    [
      'a header',
      { kind: 'http', header: { 'x-ok': '1' } },
      page('', 200, { 'x-ok': SECRET }),
      'header x-ok is "[hidden]", expected 1',
    ],
    [
      'an amount',
      { kind: 'http', atLeast: { value: 'n', min: 1 } },
      page({ n: SECRET }),
      'no data: n is [hidden], and has to be 1',
    ],
    [
      'its address',
      { kind: 'http', json: { ok: '1' } },
      page({ ok: `${ADDRESS} canary-7f3a` }),
      'ok is "[hidden] [hidden]", expected 1',
    ],
    [
      'an error',
      QUERY,
      page({ status: 'error', error: `no ${SECRET}` }, 400),
      'the query is refused (400): no [hidden]',
    ],
    ['a label', QUERY, series('2', SECRET), '2 > 1 of {of="[hidden]"}'],
    [
      'a label that is cut',
      QUERY,
      series('2', `${'x'.repeat(110)} ${SECRET}`),
      `2 > 1 of {of="${'x'.repeat(110)} [hid`,
    ],
    ['a sample', QUERY, series(SECRET), 'no data: NaN of {of="a"}'],
    [
      'a type',
      QUERY,
      prometheus({ resultType: SECRET }),
      'the query gives a [hidden], and a gate needs a scalar or a vector',
    ],
  ] as [string, Parameters<typeof measure>[0], GetPage, string][])
    test(`as ${what} does not put it into the measurement`, async () => {
      const place = { address: ADDRESS, isSecret: true, headers: { authorization: `Bearer ${SECRET}` } };
      const measured = await measure(rule, NO_WORDS, place, answer);
      assert.equal(measured.text, text);
      assert.doesNotMatch(JSON.stringify(measured), /0123|7f3a/);
    });
});

describe('a gate of a page in belay.yaml', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'belay-test-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const gate = async (text: string) => policyOf(await readText(folder, `gates: { smoke: { ${text} } }`)).gate('smoke')!;

  test('records what is expected, and neither its address nor its headers', async () => {
    const [address, key] = [join(folder, 'address'), join(folder, 'key')];
    await writeFile(address, 'https://ci.example.com/smoke?token=abc\n');
    await writeFile(key, 'first\n');
    const more = `requestHeaders: { x-key: { file: ${key} } }, status: 200, json: { result.ok: true }`;
    const rest = `value: result.rate, max: 0.01, atLeast: { value: result.requests, min: 20 }`;
    const { plan, place } = await gate(`url: { file: ${address} }, ${more}, ${rest}`);
    assert.deepEqual(plan.rule, {
      ...{ kind: 'http', status: ['200'], json: { 'result.ok': 'true' }, value: 'result.rate', max: 0.01 },
      atLeast: { value: 'result.requests', min: 20 },
    });
    assert.deepEqual(await place(), {
      address: 'https://ci.example.com/smoke?token=abc',
      isSecret: true,
      headers: { 'x-key': 'first' },
    });
    await writeFile(key, 'second\n');
    assert.equal((await place()).headers['x-key'], 'second');
    assert.doesNotMatch(JSON.stringify(plan), /example|abc|first|second/);
  });

  test('expects numbers with the digits that the file has', async () => {
    const { plan } = await gate('url: https://ci.example.com/smoke, json: { version: 1.10, build: 0012 }');
    assert.deepEqual(plan.rule, { kind: 'http', json: { version: '1.10', build: '0012' } });
  });

  test('may have a query in an address that is in the open', async () => {
    const { place } = await gate(`url: 'http://10.0.0.7/smoke?of=shop', status: 200`);
    assert.equal((await place()).address, 'http://10.0.0.7/smoke?of=shop');
  });

  const URL_ONLY = 'url: https://ci.example.com/smoke';
  for (const [what, text, problem] of [
    [
      'it has prometheus: as well',
      `${URL_ONLY}, prometheus: 'http://p', query: q, max: 1`,
      /smoke\.url: a gate measures either/,
    ],
    [
      'nothing says what is good',
      URL_ONLY,
      /gates\.smoke: write what is good: status:, header:, body:, json:, or value:/,
    ],
    ['json: is empty', `${URL_ONLY}, json: {}`, /gates\.smoke: write what is good/],
    ['value: has no limit', `${URL_ONLY}, value: a`, /smoke\.value: it has no limits: write min:, max: or both/],
    ['a limit has no value:', `${URL_ONLY}, status: 200, max: 1`, /smoke\.max: write value: beside it/],
    ['no value is good', `${URL_ONLY}, value: a, min: 2, max: 1`, /gates\.smoke: min is more than max/],
    [
      'it has query: as well',
      `${URL_ONLY}, query: q, max: 1`,
      /smoke\.query: it goes with prometheus:, and this gate has url:/,
    ],
    ['atLeast: has a query', `${URL_ONLY}, status: 200, atLeast: { query: q, min: 1 }`, /smoke\.atLeast: write value:/],
    ['an expression is broken', `${URL_ONLY}, body: '/(/'`, /gates\.smoke: an expression cannot be used/],
    [
      'its address has a password',
      `url: 'https://a:b@c', status: 200`,
      /smoke\.url: write an address like .* without user/,
    ],
    [
      'its address has a word of the wave',
      `url: 'https://ci.example.com/$hosts', status: 200`,
      /smoke\.url: an address has no words/,
    ],
    [
      'Prometheus is to give JSON',
      `prometheus: 'http://p', query: q, max: 1, json: { a: b }`,
      /smoke\.json: it goes with url:/,
    ],
    ['it has no address', 'status: 200', /gates\.smoke: write prometheus: with query:, or url:/],
  ] as const) {
    test(`is refused if ${what}`, async () => {
      await assert.rejects(gate(text), (error: Error) => {
        assert.match(error.message, problem);
        return true;
      });
    });
  }
});
