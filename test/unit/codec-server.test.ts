import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { createKeyRing, type KeyRing } from '../../src/encryption/key-ring.ts';
import { createEncryptingCodec } from '../../src/encryption/payload-codec.ts';
import { createCodecServer, type Guards, toJson, startCodecServer } from '../../src/encryption/codec-server.ts';
import { tempFolder } from '../support/temporal.ts';

const UI = 'https://temporal.example.com';
const TOKEN = 'a-token-of-some-length';
const log = pino({ level: 'silent' });

let keysFile: string;
let keys: KeyRing;
const servers: FastifyInstance[] = [];
before(async () => {
  keysFile = join(await tempFolder(), 'keys.json');
  const content = { current: 'a', keys: { a: randomBytes(32).toString('base64') } };
  writeFileSync(keysFile, JSON.stringify(content), { mode: 0o600 });
  keys = createKeyRing({ path: keysFile, warn: () => undefined });
});
after(() => Promise.all(servers.map((it) => it.close())));

function serverWith(guards: Partial<Guards> = {}, lines: string[] = []): FastifyInstance {
  const own = pino({}, { write: (line) => void lines.push(line) });
  const codec = createEncryptingCodec(keys, true);
  const server = createCodecServer({ codec, log: own, origin: null, token: null, ...guards });
  servers.push(server);
  return server;
}

const post = (server: FastifyInstance, url: string, payload: unknown, headers: Record<string, string> = {}) =>
  server.inject({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', ...headers },
    payload: payload!,
  });

const payloadOf = (value: unknown): Payload => defaultPayloadConverter.toPayload(value);

describe('the codec server', () => {
  test('decodes what the codec encrypted, and returns plain payloads as they are', async () => {
    const [encrypted] = await createEncryptingCodec(keys, false).encode([payloadOf('text')]);
    const plain = payloadOf({ made: 'by Temporal' });
    const { statusCode, body } = await post(serverWith(), '/decode', toJson([encrypted!, plain]));
    assert.equal(statusCode, 200);
    assert.deepEqual(JSON.parse(body), toJson([payloadOf('text'), plain]));
  });

  test('encodes what people enter, so that workers can decode it', async () => {
    const { body } = await post(serverWith(), '/encode', toJson([payloadOf('typed')]));
    assert.ok(!body.includes(Buffer.from('typed').toString('base64').slice(0, 6)));
    const back = await post(serverWith(), '/decode', JSON.parse(body));
    assert.deepEqual(JSON.parse(back.body), toJson([payloadOf('typed')]));
  });

  test('accepts payloads without metadata or data, and an empty list', async () => {
    const encoded = await post(serverWith(), '/encode', { payloads: [{}] });
    const { body } = await post(serverWith(), '/decode', JSON.parse(encoded.body));
    assert.deepEqual(JSON.parse(body), { payloads: [{ metadata: {}, data: '' }] });
    assert.deepEqual((await post(serverWith(), '/decode', { payloads: [] })).json(), { payloads: [] });
  });

  test('answers 400 with the id of a key that it lacks', async () => {
    const payload = { metadata: { encoding: 'YmluYXJ5L2VuY3J5cHRlZA==', 'encryption-key-id': 'b2xk' }, data: '' };
    const { statusCode, body } = await post(serverWith(), '/decode', { payloads: [payload] });
    assert.equal(statusCode, 400);
    assert.match(body, /key \\"old\\": add that key/);
  });

  test('answers a broken body with 400, a large one with 413, and another type with 415, and logs none of it', async () => {
    const lines: string[] = [];
    const server = serverWith({}, lines);
    const bodies = ['{"payloads": "canary"}', '{"payloads": [{"data": "canary!"}]}', '{"canary', '"canary"'];
    for (const body of bodies) assert.equal((await post(server, '/decode', body)).statusCode, 400, body);
    const large = `"${'canary'.repeat(3_000_000)}"`;
    assert.equal((await post(server, '/decode', large)).statusCode, 413);
    assert.equal((await post(server, '/decode', 'canary', { 'content-type': 'text/plain' })).statusCode, 415);
    assert.doesNotMatch(lines.join(''), /canary/);
  });
});

describe('a page that uses the codec server', () => {
  test('is let in if it is of the given origin, after a preflight without a token', async () => {
    const server = serverWith({ origin: UI, token: () => Promise.resolve(TOKEN) });
    const preflight = await server.inject({
      ...{ method: 'OPTIONS', url: '/decode' },
      headers: { origin: UI, 'access-control-request-method': 'POST' },
    });
    assert.equal(preflight.statusCode, 204);
    assert.equal(preflight.headers['access-control-allow-origin'], UI);
    assert.equal(preflight.headers['access-control-allow-methods'], 'POST');
    // What the UI sends: the last two with the login of its user.
    assert.equal(
      preflight.headers['access-control-allow-headers'],
      'content-type, x-namespace, authorization, authorization-extras',
    );
    const headers = { origin: UI, authorization: `Bearer ${TOKEN}`, 'x-namespace': 'default' };
    const answer = await post(server, '/decode', { payloads: [] }, headers);
    assert.equal(answer.statusCode, 200);
    assert.equal(answer.headers['access-control-allow-origin'], UI);
    assert.equal(answer.headers.vary, 'origin');
  });

  test('sees why it is rejected without the token', async () => {
    const server = serverWith({ origin: UI, token: () => Promise.resolve(TOKEN) });
    const answer = await post(server, '/decode', { payloads: [] }, { origin: UI });
    assert.equal(answer.statusCode, 401);
    assert.equal(answer.headers['access-control-allow-origin'], UI);
  });

  test('is rejected if it is of another origin, or if none is given', async () => {
    for (const origin of [`${UI}:8443`, 'http://temporal.example.com', `${UI}.evil.example`, 'null']) {
      const answer = await post(serverWith({ origin: UI }), '/decode', { payloads: [] }, { origin });
      assert.equal(answer.statusCode, 403, origin);
      assert.equal(answer.headers['access-control-allow-origin'], undefined, origin);
    }
    assert.equal((await post(serverWith(), '/decode', { payloads: [] }, { origin: UI })).statusCode, 403);
  });

  test('is named in the log if it is rejected, beside the origin that may use the server', async () => {
    const lines: string[] = [];
    for (const origin of [UI, null]) await post(serverWith({ origin }, lines), '/decode', {}, { origin: 'http://b' });
    assert.deepEqual(
      lines.map((line) => (JSON.parse(line) as { msg: string }).msg),
      [`rejected a page of http://b: --origin is ${UI}`, 'rejected a page of http://b: --origin is not set'],
    );
  });
});

describe('a token of the codec server', () => {
  test('is required for both directions, not for the health check, and may change in its file', async () => {
    let token = TOKEN;
    const server = serverWith({ token: () => Promise.resolve(token) });
    const codeWith = async (authorization?: string, url = '/decode') =>
      (await post(server, url, { payloads: [] }, authorization === undefined ? {} : { authorization })).statusCode;
    assert.equal(await codeWith(), 401);
    assert.equal(await codeWith(undefined, '/encode'), 401);
    for (const wrong of ['', TOKEN, `Basic ${TOKEN}`, `Bearer ${TOKEN}x`, 'Bearer ']) {
      assert.equal(await codeWith(wrong), 401, wrong);
    }
    assert.equal(await codeWith(`Bearer ${TOKEN}`), 200);
    token = 'another-token-of-some-length';
    assert.equal(await codeWith(`Bearer ${TOKEN}`), 401);
    assert.equal((await server.inject('/healthz')).statusCode, 200);
  });
});

describe('the start of the codec server', () => {
  const start = (options: Partial<Parameters<typeof startCodecServer>[0]>) => {
    process.env.BELAY_CODEC_KEYS_FILE = keysFile;
    const starting = startCodecServer({ host: '127.0.0.1', port: 0, log, ...options });
    delete process.env.BELAY_CODEC_KEYS_FILE;
    return starting;
  };

  test('beyond loopback needs a token or a proxy that asks for credentials', async () => {
    await assert.rejects(start({ host: '0.0.0.0' }), /beyond loopback, anyone could decrypt: give --token-file, or/);
    const { url, close } = await start({});
    assert.equal((await fetch(`${url}/healthz`)).status, 200);
    await close();
  });

  test('rejects an origin with a path, and a weak token', async () => {
    for (const origin of [`${UI}/`, `${UI}/ui`, '*', 'temporal.example.com', 'file:///ui']) {
      await assert.rejects(start({ origin }), /--origin: not an origin: give scheme, host and port only/, origin);
    }
    const tokenFile = join(await tempFolder(), 'token');
    writeFileSync(tokenFile, 'short');
    await assert.rejects(start({ tokenFile }), /use one line of at least 16/);
  });

  test('needs keys', async () => {
    await assert.rejects(
      startCodecServer({ host: '127.0.0.1', port: 0, log }),
      /BELAY_CODEC_KEYS_FILE is not set: give the key file of the workers/,
    );
  });
});
