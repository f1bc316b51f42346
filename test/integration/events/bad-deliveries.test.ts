import '../../support/timing/use-short.ts';
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import { connect as dial } from 'node:net';
import { before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { SECRET, secretFile, signed, startLoneReceiver } from '../../support/receiver.ts';
import { eventually } from '../../support/eventually.ts';
import { fresh } from '../../support/fresh.ts';

interface Request {
  method?: string;
  path?: string;
  /** In this order, with repeats. */
  headers?: [name: string, value: string][];
  body?: Buffer | string;
  chunked?: boolean;
}
/** What is wrong with a delivery, its status, and the reason it is counted under. */
type Bad = [what: string, status: number, reason: string, request: Request];

const OTHER_SECRET = `whsec_${Buffer.alloc(32, 'other').toString('base64')}`;
const HMAC_SECRET = 'key-of-hmac-source';
const MINUTE_MS = 60_000;
const TEXT = JSON.stringify({ type: 'backup.failed', data: { text: 'names nothing, so it is not coalesced' } });
const TYPE: [string, string] = ['content-type', 'application/json'];

type Signing = Parameters<typeof signed>[1];
/** Headers that prove the sender, or fail to if changed. */
const proofs = (text: string, { type = TYPE[1], ...signing }: Signing & { type?: string } = {}) =>
  Object.entries({ 'content-type': type, ...signed(text, signing) });
const but = (name: string, value: string) => [...proofs(TEXT).filter(([it]) => it !== name), [name, value]] as never;
const rightly = (body: string): Request => ({ headers: proofs(body), body });
const at = (minutes: number) => proofs(TEXT, { at: new Date(Date.now() + minutes * MINUTE_MS) });
const inHmac = (body: Buffer): Request => {
  const signature = createHmac('sha256', HMAC_SECRET).update(body).digest('hex');
  return { path: '/webhooks/hmac', headers: [TYPE, ['x-signature', signature], ['x-id', 'one two']], body };
};
/** Signed over the bytes as sent, which the library cannot do. */
const raw = (body: Buffer): [string, string][] => {
  const seconds = Math.floor(Date.now() / 1_000);
  const key = Buffer.from(SECRET.slice('whsec_'.length), 'base64');
  const signature = createHmac('sha256', key).update(`msg_raw.${seconds}.`).update(body).digest('base64');
  const proof = { 'webhook-id': 'msg_raw', 'webhook-timestamp': `${seconds}`, 'webhook-signature': `v1,${signature}` };
  return [TYPE, ...Object.entries(proof)];
};
const typed = (type: string): Request => ({ headers: proofs(TEXT, { type }), body: TEXT });
const to = (path: string): Request => ({ path, headers: proofs(TEXT), body: TEXT });
const by = (method: string): Request => ({ method, headers: proofs(TEXT), body: TEXT });
const nested = (levels: number) => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`;
const BYTES = Buffer.from('{"type":"backup.failed\xff"}', 'latin1');
const TEN_MB = Buffer.alloc(10 * 1024 * 1024, ' ');

const notProven = (): Bad[] => [
  ['a signature of another body', 401, 'bad_signature', { headers: proofs(`${TEXT} `), body: TEXT }],
  ["another sender's secret", 401, 'bad_signature', { headers: proofs(TEXT, { secret: OTHER_SECRET }), body: TEXT }],
  ["another delivery's id", 401, 'bad_signature', { headers: but('webhook-id', 'msg_other'), body: TEXT }],
  ['a signature that is not base64', 401, 'bad_signature', { headers: but('webhook-signature', 'v1,%'), body: TEXT }],
  ['a signature without a version', 401, 'bad_signature', { headers: but('webhook-signature', 'v1'), body: TEXT }],
  ['a duplicate id header', 401, 'bad_signature', { headers: twice('webhook-id'), body: TEXT }],
  ['no signature headers', 401, 'no_signature', { headers: [TYPE], body: TEXT }],
  ['an empty signature header', 401, 'no_signature', { headers: but('webhook-signature', ' '), body: TEXT }],
  ['a time six minutes ago', 401, 'bad_time', { headers: at(-6), body: TEXT }],
  ['a time in six minutes', 401, 'bad_time', { headers: at(6), body: TEXT }],
  ['a time that is not a number', 401, 'bad_time', { headers: but('webhook-timestamp', 'today'), body: TEXT }],
  ['a wrong generic HMAC', 401, 'bad_signature', { ...inHmac(Buffer.from(TEXT)), body: `${TEXT} ` }],
];

const notReadable = (): Bad[] => [
  ['an empty body', 400, 'empty_body', rightly('')],
  ['a body that is not JSON', 400, 'bad_json', rightly('type=backup.failed')],
  ['half a JSON object', 400, 'bad_json', rightly(TEXT.slice(0, -1))],
  ['half a JSON object full of quotes', 400, 'bad_json', rightly(`{"a":"${'\\"'.repeat(50_000)}`)],
  ['a JSON list', 400, 'bad_json', rightly(`[${TEXT}]`)],
  ['a JSON string', 400, 'bad_json', rightly('"backup.failed"')],
  ['a JSON number', 400, 'bad_json', rightly('12')],
  ['null', 400, 'bad_json', rightly('null')],
  ['a duplicate key with two values', 400, 'bad_json', rightly('{"server_id":"1","server_id":"2"}')],
  ['33 levels of nesting', 400, 'bad_json', rightly(nested(32))],
  ['100,000 levels of nesting', 400, 'bad_json', rightly(nested(100_000))],
  ['__proto__ as a key', 400, 'bad_json', rightly('{"__proto__":{"type":"backup.failed"}}')],
  ['__proto__ as a key, written with an escape', 400, 'bad_json', rightly('{"a":{"\\u005f_proto__":{}}}')],
  ['constructor.prototype', 400, 'bad_json', rightly('{"constructor":{"prototype":{"type":"x"}}}')],
  ['bytes that are not UTF-8', 400, 'bad_json', inHmac(Buffer.from('{"type":"backup.failed\xff"}', 'latin1'))],
  ['bytes that are not UTF-8, signed by Standard Webhooks', 400, 'bad_json', { headers: raw(BYTES), body: BYTES }],
  ['an id with a blank', 400, 'bad_id', { headers: proofs(TEXT, { id: 'msg 1' }), body: TEXT }],
  ['an id of 257 characters', 400, 'bad_id', { headers: proofs(TEXT, { id: 'm'.repeat(257) }), body: TEXT }],
  ['a blank in the id header of a generic HMAC', 400, 'bad_id', inHmac(Buffer.from(TEXT))],
  ['two content lengths', 400, 'bad_request', { headers: [...proofs(TEXT), ['content-length', '1']], body: TEXT }],
  ['a path that cannot be decoded', 400, 'bad_request', to('/webhooks/%zz')],
];

const notOurs = (): Bad[] => [
  ['an unknown source', 404, 'no_source', to('/webhooks/elsewhere')],
  ['the name of an inherited property as its source', 404, 'no_source', to('/webhooks/__proto__')],
  ['a slash in the source, encoded', 404, 'no_source', to('/webhooks/panel%2Fopen')],
  ['.. as its source', 404, 'no_source', to('/webhooks/..')],
  ['.. as its source, encoded', 404, 'no_source', to('/webhooks/%2e%2e')],
  ['a source of 200 characters', 404, 'no_source', to(`/webhooks/${'p'.repeat(200)}`)],
  ['no source', 404, 'no_source', to('/webhooks/')],
  ['a path below a source', 404, 'no_source', to('/webhooks/panel/open')],
  ['GET', 405, 'bad_method', { method: 'GET' }],
  ['HEAD', 405, 'bad_method', { method: 'HEAD' }],
  ...['PUT', 'PATCH', 'DELETE', 'PROPFIND'].map((method): Bad => [method, 405, 'bad_method', by(method)]),
];

const notTaken = (): Bad[] => [
  ['10 MB', 413, 'too_big', { headers: proofs(TEXT), body: TEN_MB }],
  ['10 MB in chunks', 413, 'too_big', { headers: proofs(TEXT), body: TEN_MB, chunked: true }],
  ['one byte more than 256 KB', 413, 'too_big', rightly(TEXT.padEnd(256 * 1024 + 1))],
  ['the type text/plain', 415, 'bad_type', typed('text/plain')],
  ['the type of a form', 415, 'bad_type', typed('application/x-www-form-urlencoded')],
  ['no type', 415, 'bad_type', { headers: proofs(TEXT).filter(([name]) => name !== TYPE[0]), body: TEXT }],
  ['a charset other than UTF-8', 415, 'bad_type', typed('application/json; charset=utf-16')],
  ['a malformed type', 415, 'bad_type', typed('application/json, text/plain')],
  [
    'a compressed body',
    415,
    'bad_type',
    { headers: [...proofs(TEXT), ['content-encoding', 'gzip']], body: gzipSync(TEXT) },
  ],
  ['an unsupported Expect header', 417, 'bad_request', { headers: [...proofs(TEXT), ['expect', 'tea']], body: TEXT }],
  ['20 KB of headers', 431, 'bad_request', { headers: [...proofs(TEXT), ['x-long', 'x'.repeat(20_480)]], body: TEXT }],
];

type Receiver = Awaited<ReturnType<typeof startLoneReceiver>>;
let receiver: Receiver;

before(async () => {
  const secrets = [await secretFile(HMAC_SECRET)];
  const hmac = { verify: 'hmac-sha256' as const, secrets, header: 'x-signature', idHeader: 'x-id' };
  receiver = await startLoneReceiver({ events: { sources: { hmac } } });
});

/** Signed when they are asked for: a signature is old after five minutes. */
const allBad = () => [...notProven(), ...notReadable(), ...notOurs(), ...notTaken()];

for (const [index, [what, status, reason]] of allBad().entries()) {
  test(`a delivery with ${what} gets ${status} without details and starts nothing`, async () => {
    const [, , , request] = allBad()[index]!;
    const counted = await refusals(receiver.url);
    const answer = await send(receiver.url, request);
    assert.equal(answer.status, status);
    assert.equal(answer.body, request.method === 'HEAD' ? '' : bodyOf(status));
    if (status === 405) assert.match(answer.head, /^allow: POST\r$/m);
    await takesGoodOnes(receiver);
    assert.deepEqual(await refusals(receiver.url), { ...counted, [reason]: (counted[reason] ?? 0) + 1 });
  });
}

for (const [what, sent] of [
  ['a body that never ends', 'content-length: 100\r\n\r\n{"type":'],
  ['headers that never end', 'webhook-id: msg_1\r\n'],
] as const) {
  test(`a delivery with ${what} gets 408 in time without details and starts nothing`, async () => {
    const hasty = await startLoneReceiver({}, { requestTimeoutMs: 300 });
    const { url } = hasty;
    const { status, body } = await speak(url, [
      `POST /webhooks/panel HTTP/1.1\r\nhost: localhost\r\n${TYPE.join(': ')}\r\n${sent}`,
    ]);
    assert.deepEqual([status, body], [408, bodyOf(408)]);
    assert.deepEqual(await refusals(url), { too_slow: 1 });
    // On a slow machine, a good one is late as well.
    await eventually('a good one in time', () => takesGoodOnes(hasty).then(() => true, isTooSlow));
  });
}

const isTooSlow = (error: Error) => {
  if (error.message === '408') return false;
  throw error;
};

/** The whole answer to a rejected sender. */
const bodyOf = (status: number) => JSON.stringify({ error: STATUS_CODES[status]?.toLowerCase() });

/** Asserts that the receiver still runs and that only good deliveries start workflows. */
async function takesGoodOnes({ url, stored }: Receiver): Promise<void> {
  const id = fresh('good');
  const { status } = await send(url, { headers: proofs(TEXT, { id }), body: TEXT });
  assert.equal(status, 202, String(status));
  assert.deepEqual(
    stored.splice(0).map(({ event }) => event.deliveryId),
    [id],
  );
}

/** The number of rejected deliveries by reason, over all sources. */
async function refusals(url: string): Promise<Record<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const counts: Record<string, number> = {};
  for (const [, reason, count] of text.matchAll(/^belay_webhooks_rejected_total\{.*reason="(\w+)".*\} (\d+)$/gm))
    counts[reason!] = (counts[reason!] ?? 0) + Number(count);
  return counts;
}

function twice(name: string): [string, string][] {
  const headers = proofs(TEXT);
  return [...headers, headers.find(([it]) => it === name)!];
}

interface Answer {
  status: number;
  head: string;
  body: string;
}

const PIECE = 65_536;

function send(url: string, { method = 'POST', path = '/webhooks/panel', ...rest }: Request): Promise<Answer> {
  const { headers = [], body, chunked = false } = rest;
  const bytes = Buffer.from(body ?? '');
  const length = chunked ? 'transfer-encoding: chunked' : `content-length: ${bytes.length}`;
  const named = [...headers.map((header) => header.join(': ')), ...(body === undefined ? [] : [length])];
  const head = [`${method} ${path} HTTP/1.1`, 'host: localhost', ...named, '', ''].join('\r\n');
  const pieces = Array.from({ length: Math.ceil(bytes.length / PIECE) }, (_, index) =>
    bytes.subarray(index * PIECE, (index + 1) * PIECE),
  );
  const framed = pieces.flatMap((piece) => [`${piece.length.toString(16)}\r\n`, piece, '\r\n']);
  return speak(url, [head, ...(chunked ? [...framed, '0\r\n\r\n'] : pieces)]);
}

/** Uses a socket because no HTTP client would send this. */
async function speak(url: string, pieces: (Buffer | string)[]): Promise<Answer> {
  const socket = dial(Number(new URL(url).port), '127.0.0.1');
  let text = '';
  const answered = new Promise<Answer>((resolve, reject) => {
    socket.on('data', (data: Buffer) => {
      const [head = '', body] = (text += data.toString('latin1')).split('\r\n\r\n');
      const length = Number(/^content-length: (\d+)/im.exec(head)?.[1]);
      const isWhole = body !== undefined && (body.length === length || pieces[0]!.toString().startsWith('HEAD'));
      if (isWhole) resolve({ status: Number(head.split(' ')[1]), head, body });
    });
    socket.on('error', reject).on('close', () => reject(new Error(`closed after "${text}"`)));
  });
  for (const piece of pieces) socket.write(piece);
  return answered.finally(() => socket.destroy());
}
